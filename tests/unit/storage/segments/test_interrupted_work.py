from __future__ import annotations

import pytest

from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.files.file_names import FileKind, FileState, SegmentFileName
from ottla.storage.segments.interrupted_work import finish_interrupted_work
from tests.support.storage.batches import batch_of

DIRECTORY = "/t-0"
INDEXED = (FileKind.LOG, FileKind.OFFSET_INDEX, FileKind.TIME_INDEX)
OLD, NEW = b"old", b"new"


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories(DIRECTORY)
    disk.sync_directory("/")
    return disk


def batches(*offsets: int, value: bytes) -> bytes:
    found = b""
    for offset in offsets:
        batch = batch_of(value)
        batch[:8] = offset.to_bytes(8)
        found += batch
    return found


def put(disk: SimulatedDisk, name: SegmentFileName, content: bytes) -> None:
    file = disk.open(f"{DIRECTORY}/{name}", create=True)
    file.write_at(0, [content])
    file.sync()
    file.close()


def segment(
    disk: SimulatedDisk,
    base_offset: int,
    *offsets: int,
    state: FileState = FileState.LIVE,
    value: bytes = OLD,
) -> None:
    """A segment with these batches; indexes that only say whose they are."""
    for kind in INDEXED:
        content = batches(*offsets, value=value) if kind is FileKind.LOG else value
        put(disk, SegmentFileName(base_offset, kind, state), content)
    disk.sync_directory(DIRECTORY)


def logs(disk: SimulatedDisk) -> dict[str, bytes]:
    """The logs that are there, by name, as the value of their batches."""
    found = {}
    for name in disk.list_directory(DIRECTORY):
        if ".log" in name:
            file = disk.open_readonly(f"{DIRECTORY}/{name}")
            content = file.read_at(0, file.size())
            found[name.lstrip("0") or name] = NEW if NEW in content else OLD
    return found


def finish(disk: SimulatedDisk) -> None:
    finish_interrupted_work(disk, DIRECTORY)


def test_a_directory_without_work_is_left_alone(disk: SimulatedDisk) -> None:
    segment(disk, 0, 0, 1)
    segment(disk, 2, 2)
    before = disk.list_directory(DIRECTORY)
    disk.counters = DiskCounters()

    finish(disk)

    assert disk.list_directory(DIRECTORY) == before
    assert disk.counters == DiskCounters()


@pytest.mark.parametrize("state", [FileState.DELETED, FileState.CLEANED])
def test_files_on_their_way_out_go(disk: SimulatedDisk, state: FileState) -> None:
    segment(disk, 0, 0, 1)
    segment(disk, 0, 0, state=state, value=NEW)
    put(disk, SegmentFileName(7, FileKind.PRODUCER_SNAPSHOT, FileState.DELETED), b"")

    finish(disk)

    assert logs(disk) == {".log": OLD}
    assert len(disk.list_directory(DIRECTORY)) == 3


def test_a_swap_replaces_the_segments_that_it_covers(disk: SimulatedDisk) -> None:
    for base_offset in (0, 10, 20, 30):
        segment(disk, base_offset, base_offset, base_offset + 5)
    segment(disk, 10, 10, 25, state=FileState.SWAP, value=NEW)

    finish(disk)

    assert logs(disk) == {".log": OLD, "10.log": NEW, "30.log": OLD}
    file = disk.open_readonly(f"{DIRECTORY}/{10:020}.index")
    assert file.read_at(0, 10) == NEW


def test_several_swaps_replace_their_own(disk: SimulatedDisk) -> None:
    for base_offset in (0, 10, 20, 30, 40):
        segment(disk, base_offset, base_offset, base_offset + 5)
    segment(disk, 0, 15, state=FileState.SWAP, value=NEW)
    segment(disk, 30, 35, state=FileState.SWAP, value=NEW)

    finish(disk)

    assert logs(disk) == {".log": NEW, "20.log": OLD, "30.log": NEW, "40.log": OLD}


def test_an_empty_swap_replaces_the_segment_of_its_name(disk: SimulatedDisk) -> None:
    segment(disk, 0, 0)
    segment(disk, 10, 10)
    segment(disk, 0, state=FileState.SWAP, value=NEW)

    finish(disk)

    assert disk.file_size(f"{DIRECTORY}/{0:020}.log") == 0
    assert set(logs(disk)) == {".log", "10.log"}


def test_a_swap_at_or_above_a_cleaned_file_is_not_trusted(disk: SimulatedDisk) -> None:
    for base_offset in (0, 10, 20):
        segment(disk, base_offset, base_offset)
    segment(disk, 0, 0, state=FileState.SWAP, value=NEW)
    segment(disk, 20, 20, state=FileState.SWAP, value=NEW)
    segment(disk, 10, 10, state=FileState.CLEANED, value=NEW)

    finish(disk)

    assert logs(disk) == {".log": NEW, "10.log": OLD, "20.log": OLD}


def test_snapshots_inside_a_swapped_segment_go_with_what_they_were_of(
    disk: SimulatedDisk,
) -> None:
    for base_offset in (0, 10, 20):
        segment(disk, base_offset, base_offset, base_offset + 9)
        put(disk, SegmentFileName(base_offset, FileKind.PRODUCER_SNAPSHOT), b"")
    segment(disk, 0, 19, state=FileState.SWAP, value=NEW)

    finish(disk)

    names = disk.list_directory(DIRECTORY)
    assert [name for name in names if name.endswith(".snapshot")] == [f"{20:020}.snapshot"]


def test_indexes_that_were_renamed_before_their_log_stay(disk: SimulatedDisk) -> None:
    segment(disk, 0, 1, state=FileState.SWAP, value=NEW)
    for kind in (FileKind.OFFSET_INDEX, FileKind.TIME_INDEX):
        swap = SegmentFileName(0, kind, FileState.SWAP)
        live = swap._replace(state=FileState.LIVE)
        disk.rename(f"{DIRECTORY}/{swap}", f"{DIRECTORY}/{live}")

    finish(disk)

    assert disk.list_directory(DIRECTORY) == sorted(f"{0:020}{kind}" for kind in INDEXED)
    for kind in INDEXED:
        file = disk.open_readonly(f"{DIRECTORY}/{0:020}{kind}")
        assert NEW in file.read_at(0, file.size())


@pytest.mark.parametrize("changes", range(20))
@pytest.mark.parametrize("seed", range(5))
def test_finishing_can_be_interrupted_anywhere(
    disk: SimulatedDisk, changes: int, seed: int
) -> None:
    for base_offset in (0, 10, 20):
        segment(disk, base_offset, base_offset, base_offset + 9)
    segment(disk, 0, 0, 19, state=FileState.SWAP, value=NEW)
    segment(disk, 20, 20, state=FileState.CLEANED, value=NEW)
    segment(disk, 5, 5, state=FileState.DELETED)
    disk.faults.power_off_after(changes)
    try:
        finish(disk)
    except PowerLost:
        disk.crash(SeededDice(seed))
    disk.faults.power_on()

    finish(disk)

    assert logs(disk) == {".log": NEW, "20.log": OLD}
