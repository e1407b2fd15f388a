from __future__ import annotations

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.epochs.epoch_cache import (
    UNDEFINED_EPOCH_END,
    EpochEnd,
    EpochEntry,
    LeaderEpochCache,
)
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.durable_file import read_file, replace_file

DIRECTORY = "/orders-0"
PATH = f"{DIRECTORY}/leader-epoch-checkpoint"


def new_disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories(DIRECTORY)
    return disk


def cache_of(*entries: tuple[int, int]) -> LeaderEpochCache:
    cache = LeaderEpochCache(new_disk(), DIRECTORY)
    for epoch, start_offset in entries:
        cache.assign(epoch=epoch, start_offset=start_offset)
    return cache


def entries_of(cache: LeaderEpochCache) -> list[tuple[int, int]]:
    return [(entry.epoch, entry.start_offset) for entry in cache.entries]


def test_flushed_cache_reads_back_from_kafkas_text() -> None:
    disk = new_disk()
    cache = LeaderEpochCache(disk, DIRECTORY)
    cache.assign(epoch=0, start_offset=0)
    cache.assign(epoch=3, start_offset=125)
    cache.flush()
    assert read_file(disk, PATH) == b"0\n2\n0 0\n3 125\n"
    reopened = LeaderEpochCache(disk, DIRECTORY)
    assert entries_of(reopened) == [(0, 0), (3, 125)]
    assert not reopened.is_dirty


def test_flush_without_changes_writes_nothing() -> None:
    disk = new_disk()
    LeaderEpochCache(disk, DIRECTORY).flush()
    assert not disk.exists(PATH)


def test_epoch_is_assigned_once() -> None:
    cache = cache_of((1, 10))
    assert not cache.assign(epoch=1, start_offset=10)
    assert not cache.assign(epoch=1, start_offset=99)
    assert cache.assign(epoch=2, start_offset=20)
    assert entries_of(cache) == [(1, 10), (2, 20)]
    assert cache.latest_epoch == 2
    assert cache.latest_entry == EpochEntry(2, 20)
    assert cache.earliest_entry == EpochEntry(1, 10)


@pytest.mark.parametrize(
    ("assigned", "left"),
    [
        ((3, 20), [(1, 10), (3, 20)]),
        ((3, 15), [(1, 10), (3, 15)]),
        ((3, 5), [(3, 5)]),
        ((2, 15), [(1, 10), (2, 15)]),
        ((1, 50), [(1, 50)]),
        ((0, 50), [(0, 50)]),
    ],
)
def test_entries_that_contradict_a_new_one_go(
    assigned: tuple[int, int], left: list[tuple[int, int]]
) -> None:
    cache = cache_of((1, 10), (2, 20))
    cache.assign(epoch=assigned[0], start_offset=assigned[1])
    assert entries_of(cache) == left


@pytest.mark.parametrize(
    ("epoch", "end"),
    [
        (-1, UNDEFINED_EPOCH_END),
        (0, EpochEnd(0, 10)),
        (1, EpochEnd(1, 20)),
        (2, EpochEnd(1, 20)),
        (3, EpochEnd(3, 30)),
        (4, EpochEnd(3, 30)),
        (5, EpochEnd(5, 99)),
        (6, UNDEFINED_EPOCH_END),
    ],
)
def test_end_offset_is_where_the_next_epoch_begins(epoch: int, end: EpochEnd) -> None:
    cache = cache_of((1, 10), (3, 20), (5, 30))
    assert cache.end_offset_for(epoch=epoch, log_end_offset=99) == end


def test_empty_cache_knows_no_epoch() -> None:
    cache = cache_of()
    assert cache.latest_epoch is None
    assert cache.latest_entry is None
    assert cache.earliest_entry is None
    assert cache.epoch_for_offset(5) is None
    assert cache.end_offset_for(epoch=0, log_end_offset=9) == UNDEFINED_EPOCH_END


def test_epoch_of_an_offset_is_the_last_one_begun_by_then() -> None:
    cache = cache_of((1, 10), (3, 20))
    assert [cache.epoch_for_offset(offset) for offset in (9, 10, 19, 20, 500)] == [None, 1, 1, 3, 3]


def test_neighbours_of_an_epoch_need_not_be_next_to_it() -> None:
    cache = cache_of((1, 10), (3, 20))
    assert [cache.previous_epoch(epoch) for epoch in (1, 2, 3, 9)] == [None, 1, 1, 3]
    assert [cache.next_epoch(epoch) for epoch in (0, 1, 2, 3)] == [1, 3, 3, None]


def test_truncating_the_end_forgets_epochs_that_begin_there_or_later() -> None:
    cache = cache_of((1, 10), (3, 20), (5, 30))
    cache.truncate_from_end(31)
    assert entries_of(cache) == [(1, 10), (3, 20), (5, 30)]
    cache.truncate_from_end(20)
    assert entries_of(cache) == [(1, 10)]


@pytest.mark.parametrize(
    ("start_offset", "left"),
    [
        (5, [(1, 10), (3, 20), (5, 30)]),
        (10, [(1, 10), (3, 20), (5, 30)]),
        (15, [(1, 15), (3, 20), (5, 30)]),
        (20, [(3, 20), (5, 30)]),
        (99, [(5, 99)]),
    ],
)
def test_truncating_the_start_keeps_the_epoch_that_covers_it(
    start_offset: int, left: list[tuple[int, int]]
) -> None:
    cache = cache_of((1, 10), (3, 20), (5, 30))
    cache.flush()
    cache.truncate_from_start(start_offset)
    assert entries_of(cache) == left
    assert cache.is_dirty == (start_offset > 10)


def test_cleared_cache_flushes_an_empty_checkpoint() -> None:
    disk = new_disk()
    cache = LeaderEpochCache(disk, DIRECTORY)
    cache.assign(epoch=1, start_offset=0)
    cache.clear()
    cache.flush()
    assert read_file(disk, PATH) == b"0\n0\n"


@pytest.mark.parametrize("line", ["1", "1 2 3", "-1 5", "1 -5", "one 5"])
def test_line_that_is_no_epoch_is_refused(line: str) -> None:
    disk = new_disk()
    replace_file(disk, PATH, f"0\n1\n{line}\n".encode())
    with pytest.raises(CorruptCheckpointError, match="line 3"):
        LeaderEpochCache(disk, DIRECTORY)
