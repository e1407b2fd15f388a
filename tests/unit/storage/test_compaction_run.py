"""Compaction as work in the background: throttled, cancelled, failing, too late."""

from __future__ import annotations

import dataclasses
import errno
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ottla.model import Offset, TimestampMs, TopicPartition
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.compaction import (
    CompactionCancelledError,
    compact,
    swap_groups,
    swap_in,
)
from ottla.storage.compaction.offset_map import KEY_BYTES_MAX, OffsetMap
from ottla.storage.compaction.two_passes import remove_cleaned
from ottla.storage.directories.cleaner_offsets import CleanerOffsets
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import FileKind
from ottla.storage.log.log import Log
from ottla.wire.records.batch import read_body
from ottla.wire.records.builder import build_batch
from ottla.wire.records.header import read_header
from ottla.wire.records.record import Record
from tests.support.storage.batches import batch_of
from tests.support.storage.compactions import (
    commit_all,
    compacted,
    latest_values,
    offsets,
    planned,
    roll_and_commit,
)
from tests.support.storage.log_checks import directory_content
from tests.support.storage.logs import (
    DATA,
    DIRECTORY,
    NOW_MS,
    PARTITION,
    append,
    base_offsets,
    new_log,
    opened,
)


def dirty_log(disk: SimulatedDisk | None = None, **config: Any) -> Log:
    """Three inactive segments of two records each, of two keys, and a few bytes of index."""
    log = new_log(
        disk, compact=True, index_interval_bytes=0, min_cleanable_dirty_ratio=0.0, **config
    )
    for number in range(6):
        append(log, batch_of(b"v" * 100, key=b"key %d" % (number % 2)))
        if number % 2:
            log.roll(now_ms=NOW_MS)
    commit_all(log)
    log.flush()
    return log


def cleaned_files(log: Log) -> list[str]:
    return [name for name in log.disk.list_directory(DIRECTORY) if name.endswith(".cleaned")]


def test_rate_is_held_by_sleeping() -> None:
    log = dirty_log(segment_bytes=400)
    plan = dataclasses.replace(planned(log), bytes_per_second=1_000.0)
    slept: list[float] = []
    result = compact(log.disk, plan, sleep=slept.append)
    read = 2 * sum(segment.size for segment in plan.segments)
    written = sum(group.size for group in result.groups)
    assert sum(slept) == pytest.approx((read + written) / 1_000, abs=0.05)


def cancelled_after(batches: int) -> Callable[[], bool]:
    left = iter([False] * batches)
    return lambda: next(left, True)


def test_cancelled_compaction_leaves_nothing_behind() -> None:
    log = dirty_log(segment_bytes=400)
    before = directory_content(log.disk, DIRECTORY)
    for batches in range(12):
        with pytest.raises(CompactionCancelledError):
            compact(log.disk, planned(log), is_cancelled=cancelled_after(batches))
        assert directory_content(log.disk, DIRECTORY) == before
    assert compact(log.disk, planned(log), is_cancelled=cancelled_after(12))


def test_full_disk_stops_a_compaction_and_leaves_nothing_behind() -> None:
    disk = SimulatedDisk()
    log = dirty_log(disk, segment_bytes=400)
    before = directory_content(disk, DIRECTORY)
    disk.limit_space(250)
    with pytest.raises(OSError, match="No space") as failure:
        compact(disk, planned(log))
    assert failure.value.errno == errno.ENOSPC
    assert directory_content(disk, DIRECTORY) == before


def test_leftovers_of_a_worker_that_died_are_removed_first() -> None:
    log = dirty_log()
    path = log.segments.active.path(FileKind.LOG)
    log.disk.open(f"{path}.cleaned", create=True)
    compacted(log)
    assert cleaned_files(log) == []


def test_compaction_of_a_log_that_loses_its_segments_is_cancelled() -> None:
    log = dirty_log(retention_ms=0, segment_bytes=400)
    plan = planned(log)
    log.delete_expired_segments(now_ms=NOW_MS)
    with pytest.raises(CompactionCancelledError, match="lost segments"):
        compact(log.disk, plan)


def test_compaction_of_a_deleted_log_ends_quietly() -> None:
    log = dirty_log()
    plan = planned(log)
    result = compact(log.disk, plan)
    log.disk.rename(DIRECTORY, f"{DIRECTORY}-delete")
    assert not swap_in(log, result, now_ms=NOW_MS)
    with pytest.raises(CompactionCancelledError):
        compact(log.disk, plan)


def test_worker_reports_what_is_corrupt() -> None:
    error = CorruptLogError("a.log", position=7, reason="bad")
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, CorruptLogError)
    assert (str(copy), copy.position) == (str(error), 7)


@pytest.fixture(params=["truncated", "deleted from", "rolled back to the same size", "compacted"])
def change(request: pytest.FixtureRequest) -> Callable[[Log], None]:
    """What may happen to a log while it is compacted."""

    def apply(log: Log) -> None:
        if request.param == "truncated":
            log.truncate_to(5, now_ms=NOW_MS)
        elif request.param == "deleted from":
            log.delete_records_before(3)
            assert log.delete_expired_segments(now_ms=NOW_MS)
        elif request.param == "compacted":
            remove_cleaned(log.disk, log.directory)
        else:
            log.truncate_to(5, now_ms=NOW_MS)
            append(log, batch_of(b"w" * 100, key=b"key 1"))
            roll_and_commit(log)

    return apply


def test_compaction_of_a_log_that_has_changed_is_discarded(change: Callable[[Log], None]) -> None:
    log = dirty_log(segment_bytes=400)
    result = compact(log.disk, planned(log))
    change(log)
    bases, values = base_offsets(log), latest_values(log)
    assert not swap_in(log, result, now_ms=NOW_MS)
    assert cleaned_files(log) == []
    assert (base_offsets(log), latest_values(log)) == (bases, values)


def test_groups_are_swapped_in_one_by_one_until_the_log_changes() -> None:
    log = dirty_log(segment_bytes=400)
    result = compact(log.disk, planned(log))
    steps: Iterator[object] = swap_groups(log, result, now_ms=NOW_MS)
    next(steps)
    assert offsets(log) == [2, 3, 4, 5]
    log.truncate_to(5, now_ms=NOW_MS)
    assert list(steps) == []
    assert cleaned_files(log) == []
    assert offsets(log) == [2, 3, 4]


def test_appends_and_retention_of_later_segments_do_not_disturb_a_compaction() -> None:
    log = dirty_log(segment_bytes=400)
    result = compact(log.disk, planned(log))
    append(log, batch_of(b"v" * 100, key=b"key 0"))
    log.roll(now_ms=NOW_MS)
    append(log, batch_of(b"v" * 100, key=b"key 0"))
    assert swap_in(log, result, now_ms=NOW_MS)
    assert offsets(log) == [4, 5, 6, 7]


def test_reader_of_an_old_segment_reads_on_until_its_delay_is_over() -> None:
    log = dirty_log()
    fetched = log.read(0, bytes_max=1 << 20, upper_offset=6)
    assert fetched is not None
    before = fetched.read()
    compacted(log)
    log.retired.purge(now_ms=NOW_MS + log.config.file_delete_delay_ms - 1)
    assert fetched.read() == before
    log.retired.purge(now_ms=NOW_MS + log.config.file_delete_delay_ms)
    assert not [name for name in log.disk.list_directory(DIRECTORY) if name.endswith(".deleted")]


def test_producer_snapshots_of_what_was_compacted_go() -> None:
    log = dirty_log()
    snapshots = {name for name in log.disk.list_directory(DIRECTORY) if name.endswith(".snapshot")}
    assert len(snapshots) == 3
    compacted(log)
    log.flush()
    left = {name for name in log.disk.list_directory(DIRECTORY) if name.endswith(".snapshot")}
    assert left == {f"{log.segments.active.base_offset:020d}.snapshot"}


def test_compacted_log_is_opened_again_as_it_was() -> None:
    disk = SimulatedDisk()
    log = dirty_log(disk)
    append(log, batch_of(b"v", key=b"key 3", producer_id=7, sequence=0))
    commit_all(log)
    compacted(log)
    values = latest_values(log)
    log.close()
    again = opened(disk, log.config, clean=True)
    commit_all(again)
    assert latest_values(again) == values
    duplicate = append(again, batch_of(b"v", key=b"key 3", producer_id=7, sequence=0))
    assert duplicate.is_duplicate


def test_map_keeps_its_memory() -> None:
    memory_bytes = 1 << 20
    keys = [b"%0*d" % (KEY_BYTES_MAX + number % 2, number) for number in range(10_000)]
    records = [Record(Offset(number), TimestampMs(0), key, b"") for number, key in enumerate(keys)]
    batch = build_batch(records)
    header = read_header(batch)
    body = read_body(batch, 0, header)
    del keys, records
    tracemalloc.start()
    try:
        offset_map = OffsetMap(memory_bytes=memory_bytes)
        assert not offset_map.add(header, body, start_offset=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.4 * memory_bytes < peak <= memory_bytes
    assert len(offset_map.offsets) == offset_map.latest_offset + 1


def test_cleaner_offset_is_found_again() -> None:
    disk = SimulatedDisk()
    log = dirty_log(disk)
    cleaner_offsets = CleanerOffsets(disk, DATA)
    assert cleaner_offsets.first_dirty_offset(log) == 0
    result = compacted(log)
    cleaner_offsets.advance(PARTITION, result.first_dirty_offset)
    assert CleanerOffsets(disk, DATA).first_dirty_offset(log) == 6
    checkpoint = OffsetCheckpoint(disk, DATA, OffsetCheckpointName.CLEANER_OFFSET)
    assert checkpoint.read() == {PARTITION: 6}


def test_cleaner_offset_follows_the_start_of_the_log() -> None:
    log = dirty_log()
    cleaner_offsets = CleanerOffsets(log.disk, DATA)
    cleaner_offsets.advance(PARTITION, 2)
    log.delete_records_before(5)
    assert cleaner_offsets.first_dirty_offset(log) == 5


def test_cleaner_offset_is_lowered_by_a_truncation_and_never_raised() -> None:
    log = dirty_log()
    cleaner_offsets = CleanerOffsets(log.disk, DATA)
    cleaner_offsets.advance(PARTITION, 4)
    cleaner_offsets.truncate(PARTITION, 5)
    assert CleanerOffsets(log.disk, DATA).first_dirty_offset(log) == 4
    cleaner_offsets.truncate(PARTITION, 3)
    assert CleanerOffsets(log.disk, DATA).first_dirty_offset(log) == 3


def test_cleaner_offset_above_the_log_means_that_all_is_dirty_for_good() -> None:
    log = dirty_log()
    cleaner_offsets = CleanerOffsets(log.disk, DATA)
    cleaner_offsets.advance(PARTITION, 7)
    assert cleaner_offsets.first_dirty_offset(log) == 0
    append(log, batch_of(b"1", b"2", key=b"key"))
    assert CleanerOffsets(log.disk, DATA).first_dirty_offset(log) == 0


def test_cleaner_offset_of_a_deleted_log_is_forgotten() -> None:
    disk = SimulatedDisk()
    log = dirty_log(disk)
    cleaner_offsets = CleanerOffsets(disk, DATA)
    cleaner_offsets.advance(PARTITION, 4)
    cleaner_offsets.advance(TopicPartition("other", 0), 9)
    cleaner_offsets.forget(PARTITION)
    assert CleanerOffsets(disk, DATA).first_dirty_offset(log) == 0
    checkpoint = OffsetCheckpoint(disk, DATA, OffsetCheckpointName.CLEANER_OFFSET)
    assert checkpoint.read() == {TopicPartition("other", 0): 9}


def test_cleaner_offsets_that_do_not_parse_mean_that_all_is_dirty() -> None:
    log = dirty_log()
    path = f"{DATA}/{OffsetCheckpointName.CLEANER_OFFSET}"
    log.disk.open(path, create=True).write_at(0, [b"what?\n"])
    assert CleanerOffsets(log.disk, DATA).first_dirty_offset(log) == 0
