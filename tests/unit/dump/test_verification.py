"""Sound files pass; what is wrong is named, and where."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.dump.files import list_files
from ottla.dump.rows import Problem
from ottla.dump.verification import verify_file
from ottla.wire.records.batch import compute_crc
from ottla.wire.records.builder import build_batch
from ottla.wire.records.header import CRC_AT, read_header
from tests.support.kafka.kafka_fixtures import extract, partition_names
from tests.support.storage.dumped import (
    DISK,
    LOG,
    NOON_MS,
    only,
    plain_batches,
    record,
    verified,
    write_log,
)

LAST_OFFSET_DELTA_AT = 23
RECORD_COUNT_AT = 57


@pytest.mark.parametrize("name", partition_names("clean"))
def test_everything_that_kafka_wrote_and_closed_is_sound(tmp_path: Path, name: str) -> None:
    partition = extract(name, tmp_path)
    for file in list_files(DISK, str(partition)):
        assert not only(verify_file(DISK, file), Problem)


def test_verdict_says_how_much_was_checked(tmp_path: Path) -> None:
    _, verdict = verified(write_log(tmp_path, plain_batches(3)))
    assert verdict == (3, 9, 0, 0)


def resealed(batch: bytearray) -> bytearray:
    """With the checksum that fits the bytes again."""
    struct.pack_into(">I", batch, CRC_AT, compute_crc(batch, 0, read_header(batch)))
    return batch


def test_wrong_checksum_is_found(tmp_path: Path) -> None:
    first, second = plain_batches(2)
    first[-1] ^= 1
    (problem,), verdict = verified(write_log(tmp_path, [first, second]))
    assert "CRC-32C" in problem
    assert verdict.batches == 2


def test_offsets_that_do_not_ascend_are_found(tmp_path: Path) -> None:
    first, second = plain_batches(2)
    (problem,), _ = verified(write_log(tmp_path, [first, second, second]))
    assert "begins below 6" in problem


def test_offset_below_the_segments_name_is_found(tmp_path: Path) -> None:
    log = write_log(tmp_path, plain_batches(1), name="00000000000000000001.log")
    (problem,), _ = verified(log)
    assert "begins below 1" in problem


def test_gaps_are_no_problem(tmp_path: Path) -> None:
    batch = build_batch([record(5), record(9)])
    assert verified(write_log(tmp_path, [batch]))[0] == []


def test_negative_offset_delta_is_found(tmp_path: Path) -> None:
    (batch,) = plain_batches(1)
    struct.pack_into(">i", batch, LAST_OFFSET_DELTA_AT, -5)
    (problem,), _ = verified(write_log(tmp_path, [resealed(batch)]))
    assert "ends -5 offsets after its first" in problem


def test_batch_too_far_from_its_segment_is_found(tmp_path: Path) -> None:
    (problem,), _ = verified(write_log(tmp_path, [build_batch([record(2**31)])]))
    assert "too far" in problem


def test_wrong_count_of_records_is_found(tmp_path: Path) -> None:
    for count, complaint in ((4, "has the record count 4"), (2, "bytes are left after")):
        (batch,) = plain_batches(1)
        struct.pack_into(">i", batch, RECORD_COUNT_AT, count)
        (problem,), _ = verified(write_log(tmp_path, [resealed(batch)]))
        assert complaint in problem


def test_record_above_its_batchs_last_offset_is_found(tmp_path: Path) -> None:
    batch = build_batch([record(0), record(2)])
    struct.pack_into(">i", batch, LAST_OFFSET_DELTA_AT, 1)
    (problem,), _ = verified(write_log(tmp_path, [resealed(batch)]))
    assert "its offset is 1 too high" in problem


def test_torn_log_is_found(tmp_path: Path) -> None:
    first, second = plain_batches(2)
    (problem,), verdict = verified(write_log(tmp_path, [first, second[:70]]))
    assert f"corrupt at byte {len(first)}" in problem
    assert verdict.batches == 1


def indexed_log(directory: Path) -> Path:
    """Three batches, the last two of them in both indexes."""
    batches = plain_batches(3)
    log = write_log(directory, batches)
    positions = [len(batches[0]), len(batches[0]) + len(batches[1])]
    offset_entries = [(5, positions[0]), (8, positions[1])]
    log.with_suffix(".index").write_bytes(b"".join(struct.pack(">ii", *e) for e in offset_entries))
    time_entries = [(NOON_MS + 5000, 5), (NOON_MS + 8000, 8)]
    log.with_suffix(".timeindex").write_bytes(
        b"".join(struct.pack(">qi", *e) for e in time_entries)
    )
    return log


def test_indexes_that_fit_their_log_are_sound(tmp_path: Path) -> None:
    log = indexed_log(tmp_path)
    for suffix in (".index", ".timeindex"):
        problems, verdict = verified(log.with_suffix(suffix))
        assert problems == []
        assert verdict.entries == 2


@pytest.mark.parametrize(
    ("suffix", "change", "complaint"),
    [
        (".index", lambda data: struct.pack(">i", 4) + data[4:], "ends with offset 5"),
        (".index", lambda data: data[:4] + struct.pack(">i", 7) + data[8:], "no batch begins"),
        (".index", lambda data: data[8:] + data[:8], "does not come after"),
        (".index", lambda data: data[:-1], "not a multiple"),
        (".index", lambda data: data + bytes(8), "zeros"),
        (".timeindex", lambda data: struct.pack(">q", 1) + data[8:], "latest timestamp is"),
        (".timeindex", lambda data: data[:8] + struct.pack(">i", 4) + data[12:], "no batch ends"),
        (".timeindex", lambda data: data[12:] + data[:12], "does not come after"),
        (".timeindex", lambda data: data[:-1], "not a multiple"),
        (".timeindex", lambda data: data + struct.pack(">qi", 2**60, 99), "no batch ends"),
    ],
)
def test_index_that_does_not_fit_its_log_is_found(
    tmp_path: Path, suffix: str, change: Callable[[bytes], bytes], complaint: str
) -> None:
    index = indexed_log(tmp_path).with_suffix(suffix)
    index.write_bytes(change(index.read_bytes()))
    assert any(complaint in problem for problem in verified(index)[0])


def test_index_without_a_log_cannot_be_checked(tmp_path: Path) -> None:
    log = indexed_log(tmp_path)
    log.unlink()
    for suffix in (".index", ".timeindex"):
        (problem,), _ = verified(log.with_suffix(suffix))
        assert f"there is no {log}" in problem


def test_index_is_checked_up_to_the_tear_of_its_log(tmp_path: Path) -> None:
    log = indexed_log(tmp_path)
    log.write_bytes(log.read_bytes()[:-1])
    for suffix in (".index", ".timeindex"):
        (problem,), verdict = verified(log.with_suffix(suffix))
        assert "is not in the log" in problem
        assert verdict.entries == 2


def test_leader_epochs_that_do_not_ascend_are_found(tmp_path: Path) -> None:
    checkpoint = tmp_path / "leader-epoch-checkpoint"
    checkpoint.write_text("0\n3\n0 0\n2 10\n1 20\n")
    (problem,), verdict = verified(checkpoint)
    assert "epoch 1 at offset 20 does not come after epoch 2 at offset 10" in problem
    assert verdict.entries == 3


def test_snapshot_of_metadata_begins_at_zero_whatever_its_name(tmp_path: Path) -> None:
    name = "00000000000000000074-0000000001.checkpoint"
    assert verified(write_log(tmp_path, plain_batches(2), name=name))[0] == []


def test_log_in_the_middle_of_compaction_is_checked_with_its_own_indexes(tmp_path: Path) -> None:
    log = indexed_log(tmp_path)
    for suffix in (".log", ".index"):
        path = log.with_suffix(suffix)
        path.rename(f"{path}.cleaned")
    assert verified(tmp_path / f"{LOG.removesuffix('.log')}.index.cleaned")[0] == []


def test_control_record_that_does_not_say_what_it_is_is_found(tmp_path: Path) -> None:
    batch = build_batch([record(0)._replace(key=b"")], is_control=True)
    (problem,), _ = verified(write_log(tmp_path, [batch]))
    assert "a key of 0 bytes" in problem
