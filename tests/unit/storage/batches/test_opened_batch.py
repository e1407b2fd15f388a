"""Batches that are opened before they are appended: what is refused, and what is changed."""

from __future__ import annotations

import pickle

import pytest

from ottla.model import Buffer, ErrorCode, KafkaError, Offset, TimestampMs, TopicPartition
from ottla.storage.batches.leader_batch import Origin, stamp_batch
from ottla.storage.batches.opened_batch import (
    OpenedBatch,
    open_batch,
    open_inline,
    opened_bytes_max,
)
from ottla.storage.batches.record_errors import InvalidRecordsError, RecordError
from ottla.storage.log_config import LogConfig
from ottla.wire.records.batch import validate_batch
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType, read_header
from ottla.wire.records.record import Record, iterate_records
from ottla.wire.records.record_check import LISTED_MAX
from tests.support.storage.batches import (
    GARBAGE_BODIES,
    batch_around,
    batch_of,
    compressed_around,
    raw_record,
)
from tests.support.storage.logs import marker

NOW_MS = 1_000_000_000
NAME = TopicPartition("prices", 3)
COMPACTED = LogConfig(compact=True)
CHECKED = LogConfig(validates_records=True)
MEBIBYTE = 1 << 20


def opened(batch: Buffer, config: LogConfig, *, origin: Origin = Origin.CLIENT) -> OpenedBatch:
    return open_batch(batch, config, name=NAME, origin=origin, now_ms=NOW_MS)


def refusal(batch: Buffer, config: LogConfig) -> KafkaError:
    with pytest.raises(KafkaError) as error:
        opened(batch, config)
    return error.value


def record_errors(error: KafkaError) -> tuple[RecordError, ...]:
    assert isinstance(error, InvalidRecordsError)
    return error.record_errors


# ---- compacted topics


@pytest.mark.parametrize("codec", Codec)
def test_a_compacted_topic_needs_a_key_in_every_record(codec: Codec) -> None:
    records = [
        Record(Offset(number), TimestampMs(NOW_MS), key, b"v")
        for number, key in enumerate([b"k", None, b"k", None, b""])
    ]

    opened(build_batch(records[:1], codec=codec), COMPACTED)
    error = refusal(build_batch(records, codec=codec), COMPACTED)

    assert error.code is ErrorCode.INVALID_RECORD
    assert [each.batch_index for each in record_errors(error)] == [1, 3]
    assert all("prices-3 is compacted" in each.message for each in record_errors(error))
    assert "2 records were rejected: record 1: " in error.message


def test_the_records_that_are_listed_are_limited() -> None:
    batch = batch_of(*[b"v"] * (LISTED_MAX + 5), timestamp=NOW_MS, codec=Codec.LZ4)

    error = refusal(batch, COMPACTED)

    assert len(record_errors(error)) == LISTED_MAX
    assert f"{LISTED_MAX + 5} records were rejected" in error.message


def test_markers_and_a_coordinators_records_are_not_checked() -> None:
    for batch in (
        marker(producer_id=1, commit=True, timestamp=NOW_MS),
        batch_of(b"v", timestamp=NOW_MS),
    ):
        assert opened(batch, COMPACTED, origin=Origin.COORDINATOR).records is batch


def test_a_refusal_survives_the_way_back_from_a_worker_process() -> None:
    error = refusal(batch_of(b"v", timestamp=NOW_MS), COMPACTED)

    copy = pickle.loads(pickle.dumps(error))

    assert (copy.code, copy.message) == (error.code, error.message)
    assert record_errors(copy) == record_errors(error)


# ---- records that are none


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("topic", ["compacted", "checked", "recompressed"])
@pytest.mark.parametrize("name", GARBAGE_BODIES)
def test_a_body_that_is_not_its_records_is_refused(name: str, topic: str, codec: Codec) -> None:
    other = Codec.ZSTD if codec is Codec.GZIP else Codec.GZIP
    config = {
        "compacted": COMPACTED,
        "checked": CHECKED,
        "recompressed": LogConfig(compression_type=other),
    }[topic]
    body, index = GARBAGE_BODIES[name]

    error = refusal(compressed_around(body, codec=codec, count=2, timestamp=NOW_MS), config)

    assert error.code is ErrorCode.INVALID_RECORD
    if index is not None:
        assert [each.batch_index for each in record_errors(error)] == [index]
        assert f"record {index} of the batch is malformed" in error.message


@pytest.mark.parametrize("config", [COMPACTED, CHECKED, LogConfig(compression_type=Codec.NONE)])
@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_body_that_cannot_be_decompressed_is_refused(codec: Codec, config: LogConfig) -> None:
    batch = batch_around(b"nonsense", codec=codec, timestamp=NOW_MS)

    assert refusal(batch, config).code is ErrorCode.INVALID_RECORD


def test_headers_of_all_kinds_pass() -> None:
    headers = (("", b""), ("trace", None), ("key" * 100, b"value" * 100))
    records = [
        Record(Offset(number), TimestampMs(NOW_MS), b"k" * size, b"v" * size, headers[:number])
        for number, size in enumerate([0, 1, 100, 20_000])
    ]
    batch = build_batch(records)

    assert opened(batch, CHECKED).records is batch


def test_without_record_validation_a_body_is_not_looked_at() -> None:
    batch = batch_around(b"garbage", timestamp=NOW_MS)

    assert opened(batch, LogConfig()).records is batch


# ---- timestamps


def test_timestamps_out_of_range_name_their_records() -> None:
    config = LogConfig(
        validates_records=True,
        message_timestamp_before_max_ms=1_000,
        message_timestamp_after_max_ms=500,
    )
    deltas = [0, 501, 500, -1_001, -1_000]
    body = b"".join(
        raw_record(offset=number, timestamp=delta) for number, delta in enumerate(deltas)
    )

    # The header knows of none of them.
    error = refusal(batch_around(body, count=5, timestamp=NOW_MS), config)

    assert error.code is ErrorCode.INVALID_TIMESTAMP
    assert [each.batch_index for each in record_errors(error)] == [1, 3]


def test_records_without_timestamps_are_of_no_time() -> None:
    config = LogConfig(validates_records=True, message_timestamp_before_max_ms=500)

    opened(batch_of(b"v", timestamp=-1), config)


def test_timestamps_do_not_matter_where_the_log_sets_them() -> None:
    config = LogConfig(
        validates_records=True,
        message_timestamp_type=TimestampType.LOG_APPEND_TIME,
        message_timestamp_before_max_ms=500,
    )

    opened(batch_of(b"v", timestamp=1), config)


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("declared", [-1, NOW_MS - 5, NOW_MS + 100])
def test_a_wrong_latest_timestamp_is_corrected(declared: int, codec: Codec) -> None:
    body = raw_record(timestamp=7) + raw_record(offset=1, timestamp=3)
    batch = compressed_around(body, codec=codec, count=2, timestamp=NOW_MS, max_timestamp=declared)

    corrected = opened(batch, CHECKED)

    assert validate_batch(corrected.records) == corrected.header
    assert corrected.header.max_timestamp == NOW_MS + 7
    assert [each.timestamp for each in iterate_records(corrected.records)] == [
        NOW_MS + 7,
        NOW_MS + 3,
    ]


# ---- recompression


def test_a_batch_that_is_as_the_topic_wants_it_is_left_alone() -> None:
    batch = batch_of(b"v", codec=Codec.LZ4)

    settled = opened(batch, LogConfig(compression_type=Codec.LZ4))

    assert settled.records is batch
    assert settled.header == read_header(batch)


def test_a_compression_level_is_used() -> None:
    batch = batch_of(*[b"%d" % (number * number) for number in range(2_000)])

    sizes = [
        len(opened(batch, LogConfig(compression_type=Codec.GZIP, compression_level=level)).records)
        for level in (1, 9)
    ]

    assert sizes[1] < sizes[0] < len(batch)


def test_append_time_and_codec_change_together() -> None:
    batch = bytes(batch_of(b"a" * 100, b"b" * 100, key=b"k", codec=Codec.SNAPPY))
    config = LogConfig(
        compression_type=Codec.ZSTD, message_timestamp_type=TimestampType.LOG_APPEND_TIME
    )

    settled, header = stamp_batch(opened(batch, config).records, now_ms=NOW_MS)

    assert header == validate_batch(settled)
    assert header.codec is Codec.ZSTD
    assert [
        (record.timestamp, record.key, record.value) for record in iterate_records(settled)
    ] == [(NOW_MS, b"k", b"a" * 100), (NOW_MS, b"k", b"b" * 100)]


def test_markers_are_never_recompressed() -> None:
    batch = marker(producer_id=1, commit=True)

    settled = opened(batch, LogConfig(compression_type=Codec.GZIP), origin=Origin.COORDINATOR)

    assert settled.records is batch


# ---- how much, and where


def test_what_a_batch_may_hold_is_bounded_by_the_topic_and_by_its_size() -> None:
    default, huge = LogConfig(), LogConfig(max_message_bytes=100_000_000)

    assert opened_bytes_max(1_000_000, default) == 64 * MEBIBYTE
    assert opened_bytes_max(1_000, default) == MEBIBYTE
    assert opened_bytes_max(10_000, default) == 10_240_000
    assert opened_bytes_max(917_000, huge) == 200_000_000
    assert opened_bytes_max(50_000_000, huge) == 200_000_000


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_a_bomb_is_refused_where_large_messages_are_allowed(codec: Codec) -> None:
    bomb = compressed_around(bytes(10 * MEBIBYTE), codec=codec, timestamp=NOW_MS)
    bomb = (
        bomb
        if codec is Codec.ZSTD
        else compressed_around(bytes(201 * MEBIBYTE), codec=codec, timestamp=NOW_MS)
    )
    config = LogConfig(compact=True, max_message_bytes=100_000_000)

    error = refusal(bomb, config)

    assert error.code is ErrorCode.INVALID_RECORD
    assert "when decompressed" in error.message


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
@pytest.mark.parametrize(("count", "is_small"), [(100, True), (5_000, False)])
def test_a_batch_of_many_records_is_not_opened_on_the_loop(
    codec: Codec, count: int, is_small: bool
) -> None:
    batch = batch_of(*[b"v"] * count, key=b"k", timestamp=NOW_MS, codec=codec)

    found = open_inline(batch, COMPACTED, name=NAME, now_ms=NOW_MS)

    assert (found is not None) is is_small


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_batch_of_many_bytes_is_not_decompressed_on_the_loop(codec: Codec) -> None:
    batch = batch_of(bytes(MEBIBYTE // 2), key=b"k", timestamp=NOW_MS, codec=codec)

    assert open_inline(batch, COMPACTED, name=NAME, now_ms=NOW_MS) is None
    opened(batch, COMPACTED)


def test_a_batch_that_is_small_but_too_large_for_its_topic_is_refused_on_the_loop() -> None:
    config = LogConfig(compact=True, max_message_bytes=1_000)
    batch = batch_of(bytes(100_000), key=b"k", timestamp=NOW_MS, codec=Codec.ZSTD)

    with pytest.raises(KafkaError):
        open_inline(batch, config, name=NAME, now_ms=NOW_MS)
