"""Logs that hold nothing, or nothing new, do without a sync; a node may have ten thousand."""

from __future__ import annotations

import pytest

from ottla.simulation import SeededDice, SimulatedDisk
from ottla.simulation.disk.disk_faults import Operation
from ottla.storage.files.file_names import FileKind, SegmentFileName
from ottla.storage.log_config import LogConfig
from ottla.storage.segments.segment import Segment
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import DIRECTORY, append, opened

CONFIG = LogConfig()
FIRST_FILES = (FileKind.LOG, FileKind.OFFSET_INDEX, FileKind.TIME_INDEX)


def forbid_syncs(disk: SimulatedDisk) -> None:
    disk.faults.fail(DIRECTORY, Operation.SYNC, Operation.NAMES)


def test_a_blank_log_is_opened_after_a_kill_without_a_sync() -> None:
    disk = SimulatedDisk()
    opened(disk, CONFIG, clean=True)
    disk.kill()
    forbid_syncs(disk)
    log = opened(disk, CONFIG)
    assert (log.log_start_offset, log.log_end_offset, log.recovery_point) == (0, 0, 0)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_written_to_a_blank_log_lasts_though_its_names_were_never_synced(
    seed: int,
) -> None:
    disk = SimulatedDisk()
    disk.make_directories(DIRECTORY)
    disk.sync_directory("/data")
    disk.sync_directory("/")
    # As by a node that was killed while it made the partition.
    for kind in FIRST_FILES:
        disk.open(f"{DIRECTORY}/{SegmentFileName(0, kind)}", create=True).close()
    disk.kill()
    log = opened(disk, CONFIG)
    append(log, batch_of(b"value"))
    log.segments.active.sync()
    disk.crash(SeededDice(seed))
    assert opened(disk, CONFIG).log_end_offset == 1


def test_a_blank_log_with_entries_in_an_index_is_recovered() -> None:
    disk = SimulatedDisk()
    opened(disk, CONFIG, clean=True)
    index = disk.open(f"{DIRECTORY}/{SegmentFileName(0, FileKind.OFFSET_INDEX)}")
    index.write_at(0, [bytes(8)])
    disk.kill()
    log = opened(disk, CONFIG)
    assert log.log_end_offset == 0
    assert index_size(disk) == 0


def index_size(disk: SimulatedDisk) -> int:
    return disk.file_size(f"{DIRECTORY}/{SegmentFileName(0, FileKind.OFFSET_INDEX)}")


def test_an_unwritten_log_is_closed_without_a_sync() -> None:
    disk = SimulatedDisk()
    log = opened(disk, CONFIG, clean=True)
    append(log, batch_of(b"value"))
    log.close()
    again = opened(disk, CONFIG, clean=True)
    forbid_syncs(disk)
    again.close()


def test_what_is_written_while_a_sync_runs_is_synced_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = SimulatedDisk()
    log = opened(disk, CONFIG, clean=True)
    append(log, batch_of(b"first"))
    flush = log.prepare_flush()
    assert flush is not None
    (segment,) = flush.segments
    sync = type(segment.log_file).sync

    def append_and_sync(file: object) -> None:
        monkeypatch.undo()
        append(log, batch_of(b"second"))
        sync(segment.log_file)

    monkeypatch.setattr(type(segment.log_file), "sync", append_and_sync)
    flush.run()
    log.complete_flush(flush)
    assert needs_sync(disk, segment)


def test_a_sync_that_failed_is_done_again() -> None:
    disk = SimulatedDisk()
    log = opened(disk, CONFIG, clean=True)
    append(log, batch_of(b"value"))
    segment = log.segments.active
    assert needs_sync(disk, segment)
    assert needs_sync(disk, segment)
    disk.faults.heal(DIRECTORY)
    segment.sync()
    assert not needs_sync(disk, segment)


def needs_sync(disk: SimulatedDisk, segment: Segment) -> bool:
    """Tried out, with a disk that refuses it."""
    forbid_syncs(disk)
    try:
        segment.sync()
    except OSError:
        return True
    return False
