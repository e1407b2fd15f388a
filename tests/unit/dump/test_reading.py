"""Every kind of file becomes rows, and what is not sound becomes a problem."""

from pathlib import Path

import pytest

from ottla.dump.files import list_files
from ottla.dump.reading import Reading, read_rows
from ottla.dump.rows import (
    BatchRow,
    PartitionOffset,
    Problem,
    ProducerRow,
    Property,
    RecordRow,
    Remark,
)
from ottla.dump.selection import Selection
from ottla.storage.epochs.epoch_cache import EpochEntry
from ottla.storage.indexes.offset_index import OffsetPosition
from ottla.storage.indexes.time_index import TimestampOffset
from tests.support.kafka.kafka_fixtures import expected, extract, partition_names
from tests.support.storage.dumped import DISK, LOG, only, plain_batches, rows_of, write_log

DEEP = Reading(deep=True)


@pytest.mark.parametrize("name", [*partition_names("clean"), *partition_names("unclean")])
def test_batches_and_records_are_those_that_kafka_reads(tmp_path: Path, name: str) -> None:
    partition = extract(name, tmp_path)
    for base_offset, kafkas in expected(name).segments.items():
        rows = rows_of(partition / f"{base_offset:020d}.log", DEEP)
        assert not only(rows, Problem)
        assert [(row.position, row.size_in_bytes, row.crc) for row in only(rows, BatchRow)] == [
            (batch.position, batch.size, batch.crc) for batch in kafkas.batches
        ]
        assert [row[:6] for row in only(rows, RecordRow)] == [
            (r.offset, r.timestamp, r.sequence, r.key, r.value, r.headers)
            for batch in kafkas.batches
            for r in batch.records
        ]


@pytest.mark.parametrize("archive", ["clean", "unclean"])
def test_whole_directory_of_a_broker_has_no_problem(tmp_path: Path, archive: str) -> None:
    directory = extract(archive, tmp_path)
    files = list(list_files(DISK, str(directory)))
    for file in files:
        rows = list(read_rows(DISK, file, DEEP))
        assert not only(rows, Problem)
        assert all(row.decode_error is None for row in only(rows, RecordRow))


def test_batches_come_without_records_unless_deep(tmp_path: Path) -> None:
    log = write_log(tmp_path, plain_batches(2))
    assert [type(row) for row in rows_of(log)] == [BatchRow, BatchRow]
    assert len(only(rows_of(log, DEEP), RecordRow)) == 6


def test_selection_has_both_of_its_ends(tmp_path: Path) -> None:
    log = write_log(tmp_path, plain_batches(4))
    rows = rows_of(log, Reading(Selection(4, 7), deep=True))
    assert [row.offset for row in only(rows, RecordRow)] == [4, 5, 6, 7]
    assert [row.base_offset for row in only(rows, BatchRow)] == [3, 6]


def test_selection_behind_the_end_has_no_rows(tmp_path: Path) -> None:
    log = write_log(tmp_path, plain_batches(2))
    assert rows_of(log, Reading(Selection(from_offset=6))) == []


def test_limit_counts_batches_or_in_a_deep_reading_records(tmp_path: Path) -> None:
    log = write_log(tmp_path, plain_batches(4))
    assert len(rows_of(log, Reading(limit=3))) == 3
    rows = rows_of(log, Reading(deep=True, limit=4))
    assert [row.offset for row in only(rows, RecordRow)] == [0, 1, 2, 3]
    assert len(only(rows, BatchRow)) == 2


def test_batch_with_a_wrong_checksum_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    first, second, third = plain_batches(3)
    second[-1] ^= 1
    rows = rows_of(write_log(tmp_path, [first, second, third]), DEEP)
    assert [row.is_valid for row in only(rows, BatchRow)] == [True, False, True]
    assert [row.offset for row in only(rows, RecordRow)] == [0, 1, 2, 6, 7, 8]
    (problem,) = only(rows, Problem)
    assert problem.position == len(first)
    assert "offsets 3 to 5" in problem.reason
    assert "CRC-32C" in problem.reason


def test_torn_log_is_read_to_the_tear(tmp_path: Path) -> None:
    first, second = plain_batches(2)
    *rows, problem = rows_of(write_log(tmp_path, [first, second[:-1]]), DEEP)
    assert [row.offset for row in only(rows, RecordRow)] == [0, 1, 2]
    assert isinstance(problem, Problem)
    assert problem.position == len(first)
    assert f"corrupt at byte {len(first)}" in problem.reason


def test_zeros_at_the_end_are_called_so(tmp_path: Path) -> None:
    (batch,) = plain_batches(1)
    *_, problem = rows_of(write_log(tmp_path, [batch, bytes(4096)]))
    assert isinstance(problem, Problem)
    assert "its last 4096 bytes are zeros" in problem.reason


def test_what_follows_zeros_makes_them_ordinary_rot(tmp_path: Path) -> None:
    (batch,) = plain_batches(1)
    *_, problem = rows_of(write_log(tmp_path, [batch, bytes(100), batch]))
    assert isinstance(problem, Problem)
    assert "bytes are zeros" not in problem.reason


def test_empty_log_has_no_rows(tmp_path: Path) -> None:
    assert rows_of(write_log(tmp_path, [])) == []


def test_indexes_have_their_entries_in_the_selection(tmp_path: Path) -> None:
    partition = extract("clean/plain-0", tmp_path)
    selected = Reading(Selection(41, 50))
    index = partition / "00000000000000000034.index"
    assert all(41 <= row.offset <= 50 for row in only(rows_of(index, selected), OffsetPosition))
    assert only(rows_of(index), OffsetPosition) != only(rows_of(index, selected), OffsetPosition)


def test_index_of_an_active_segment_ends_with_a_remark(tmp_path: Path) -> None:
    partition = extract("unclean/transactions-0", tmp_path)
    for suffix, row_type in ((".index", OffsetPosition), (".timeindex", TimestampOffset)):
        *entries, remark = rows_of(partition / f"00000000000000000068{suffix}")
        assert isinstance(remark, Remark)
        assert "empty entries at the end" in remark.text
        assert only(entries, row_type) == entries


def test_torn_index_is_read_to_its_last_whole_entry(tmp_path: Path) -> None:
    partition = extract("clean/plain-0", tmp_path)
    for suffix in (".index", ".timeindex", ".txnindex"):
        index = partition / f"00000000000000000034{suffix}"
        whole = rows_of(index) if index.exists() else []
        with index.open("ab") as file:
            file.write(b"torn")
        *entries, problem = rows_of(index)
        assert entries == whole
        assert isinstance(problem, Problem)


def test_small_files_have_their_entries(tmp_path: Path) -> None:
    directory = extract("clean", tmp_path)
    offsets = rows_of(directory / "recovery-point-offset-checkpoint")
    assert PartitionOffset("plain", 0, 110) in offsets
    epochs = rows_of(directory / "plain-0" / "leader-epoch-checkpoint")
    assert epochs == [EpochEntry(0, 0), EpochEntry(2, 90)]
    (topic_id,) = rows_of(directory / "plain-0" / "partition.metadata")
    assert topic_id == Property("topic_id", expected("clean/plain-0").log.topic_id)
    assert rows_of(directory / ".kafka_cleanshutdown") == [Property("broker_epoch", 89)]
    assert Property("node.id", "1") in rows_of(directory / "meta.properties")
    quorum = rows_of(directory / "__cluster_metadata-0" / "quorum-state")
    assert Property("leader_id", 1) in quorum


def test_producers_are_those_that_kafka_finds(tmp_path: Path) -> None:
    partition = extract("clean/transactions-0", tmp_path)
    rows = only(rows_of(partition / "00000000000000000043.snapshot"), ProducerRow)
    assert [
        (row.producer_id, row.producer_epoch, row.coordinator_epoch, row.current_txn_first_offset)
        for row in rows
    ] == [
        (p.producer_id, p.producer_epoch, p.coordinator_epoch, p.current_txn_first_offset)
        for p in expected("clean/transactions-0").log.producers
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("leader-epoch-checkpoint", b"0\n1\n0 zero\n"),
        ("recovery-point-offset-checkpoint", b"0\n2\norders 0 1\n"),
        ("partition.metadata", b"version: 0\n"),
        ("meta.properties", b"version=1\n"),
        ("meta.properties", b"\xff\xfe"),
        ("quorum-state", b"{}"),
        ("quorum-state", b"\xff"),
        ("00000000000000000000.snapshot", bytes(20)),
        ("00000000000000000000.txnindex", b"\1" * 34),
    ],
)
def test_small_file_that_does_not_parse_is_a_problem(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    *_, problem = rows_of(path)
    assert isinstance(problem, Problem)
    assert str(path) in problem.reason


def test_files_on_their_way_out_are_read_alike(tmp_path: Path) -> None:
    log = write_log(tmp_path, plain_batches(2))
    deleted = write_log(tmp_path, plain_batches(2), name=f"{LOG}.deleted")
    assert rows_of(deleted, DEEP) == rows_of(log, DEEP)
