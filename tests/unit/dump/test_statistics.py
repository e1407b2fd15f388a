"""Statistics count what is there, over as many segments as there are."""

from pathlib import Path

import pytest

from ottla.dump.rows import Problem
from ottla.dump.statistics import OffsetStatistics, SizeHistogram
from ottla.model import ProducerEpoch, ProducerId, TimestampMs
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.control import (
    ControlRecordType,
    EndTransactionMarker,
    end_transaction_batch,
)
from ottla.wire.records.header import TimestampType
from tests.support.kafka.kafka_fixtures import expected, extract
from tests.support.storage.dumped import (
    NOON_MS,
    only,
    plain_batches,
    record,
    statistics_of,
    write_log,
)


def test_records_keys_and_tombstones_are_counted(tmp_path: Path) -> None:
    batch = build_batch([record(0), record(1, None), record(2, b"k", None), record(3, None, None)])
    statistics, _ = statistics_of(write_log(tmp_path, [batch]))
    assert statistics.total.records == 4
    assert statistics.records_with_key == 2
    assert statistics.records_without_key == 2
    assert statistics.tombstones == 1


def test_compression_is_counted_by_codec(tmp_path: Path) -> None:
    records = [record(0, b"k", b"v" * 10_000)]
    plain = build_batch(records)
    packed = build_batch(records, codec=Codec.ZSTD)
    statistics, _ = statistics_of(write_log(tmp_path, [plain, packed]))
    assert statistics.codecs[Codec.NONE].compression_ratio == 1
    assert statistics.codecs[Codec.ZSTD].bytes == len(packed)
    assert statistics.codecs[Codec.ZSTD].uncompressed_bytes == len(plain)
    assert statistics.total.bytes == len(plain) + len(packed)
    assert statistics.codecs[Codec.ZSTD].compression_ratio > 10


def test_sizes_fall_between_powers_of_two() -> None:
    histogram = SizeHistogram()
    assert histogram.buckets() == []
    for size in (1, 2, 3, 4, 31):
        histogram.add(size)
    assert histogram.buckets() == [(1, 1, 1), (2, 3, 2), (4, 7, 1), (8, 15, 0), (16, 31, 1)]


def test_gaps_are_what_records_leave_out() -> None:
    offsets = OffsetStatistics()
    for offset in (5, 6, 9, 10, 20):
        offsets.add(offset)
    assert offsets == OffsetStatistics(first=5, last=20, gaps=2, missing=11, largest_gap=9)


def test_times_are_those_of_records_or_of_the_log(tmp_path: Path) -> None:
    batch = build_batch([record(0, after_ms=500), record(1, after_ms=100)])
    statistics, _ = statistics_of(write_log(tmp_path, [batch]))
    assert statistics.timestamps.first == NOON_MS + 100
    assert statistics.timestamps.last == NOON_MS + 500
    stamped = build_batch(
        [record(0, after_ms=500), record(1, after_ms=100)],
        timestamp_type=TimestampType.LOG_APPEND_TIME,
    )
    statistics, _ = statistics_of(write_log(tmp_path, [stamped]))
    assert statistics.timestamps.first == statistics.timestamps.last == NOON_MS + 500


def marker(producer_id: int, kind: ControlRecordType) -> bytearray:
    return end_transaction_batch(
        EndTransactionMarker(kind, 0),
        producer_id=ProducerId(producer_id),
        producer_epoch=ProducerEpoch(0),
        timestamp=TimestampMs(NOON_MS),
    )


def transactional(offset: int, producer_id: int) -> bytearray:
    return build_batch(
        [record(offset)],
        producer_id=ProducerId(producer_id),
        producer_epoch=ProducerEpoch(0),
        base_sequence=0,
        is_transactional=True,
    )


def test_transactions_are_counted_by_their_ends(tmp_path: Path) -> None:
    log = write_log(
        tmp_path,
        [
            transactional(0, 7),
            marker(7, ControlRecordType.COMMIT),
            transactional(2, 8),
            marker(8, ControlRecordType.ABORT),
            transactional(4, 7),
            transactional(5, 7),
        ],
    )
    statistics, _ = statistics_of(log)
    transactions = statistics.transactions
    assert (transactions.committed, transactions.aborted, transactions.batches) == (1, 1, 4)
    assert transactions.open_since == {7: 4}
    assert statistics.control.records == 2
    assert {producer: amount.batches for producer, amount in statistics.producers.items()} == {
        7: 4,
        8: 2,
    }


def test_bad_batches_are_left_out_and_named(tmp_path: Path) -> None:
    first, second, third = plain_batches(3)
    second[-1] ^= 1
    unreadable = build_batch([record(9, b"key", b"value")], is_control=True)
    statistics, rows = statistics_of(write_log(tmp_path, [first, second, third, unreadable]))
    assert statistics.total.batches == 2
    assert statistics.offsets.missing == 3
    assert len(only(rows, Problem)) == 2


@pytest.mark.parametrize("name", ["clean/transactions-0", "clean/compacted-0", "clean/codecs-0"])
def test_segments_of_one_log_add_up(tmp_path: Path, name: str) -> None:
    partition = extract(name, tmp_path)
    logs = [statistics_of(path)[0] for path in sorted(partition.glob("*.log"))]
    kafkas = expected(name)
    assert sum(log.total.records for log in logs) == len(kafkas.records)
    assert sum(log.total.bytes for log in logs) == sum(batch.size for batch in kafkas.batches)


def test_empty_log_has_no_numbers(tmp_path: Path) -> None:
    statistics, rows = statistics_of(write_log(tmp_path, []))
    assert rows == []
    assert statistics.total.compression_ratio == 1
    assert statistics.offsets == OffsetStatistics()
