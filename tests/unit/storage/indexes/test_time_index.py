from __future__ import annotations

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.errors import CorruptIndexError
from ottla.storage.indexes.time_index import TimeIndex, TimestampOffset

PATH = "/00000000000000000100.timeindex"


def disk_with(content: bytes = b"") -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.open(PATH, create=True).write_at(0, [content])
    return disk


def content_of(disk: SimulatedDisk) -> bytes:
    return disk.open(PATH).read_at(0, disk.file_size(PATH))


def open_index(disk: SimulatedDisk, entries_max: int = 1000) -> TimeIndex:
    return TimeIndex(disk.open(PATH), base_offset=100, entries_max=entries_max)


def index_of(*entries: tuple[int, int]) -> TimeIndex:
    index = open_index(disk_with())
    for timestamp, offset in entries:
        index.maybe_append(timestamp=timestamp, offset=offset)
    return index


def test_entries_are_big_endian_timestamp_and_relative_offset() -> None:
    disk = disk_with()
    index = open_index(disk)
    index.maybe_append(timestamp=1_700_000_000_000, offset=103)
    index.close()
    assert content_of(disk).hex() == "0000018bcfe5680000000003"


def test_lookup_gives_the_greatest_entry_not_later_than_the_timestamp() -> None:
    index = index_of((10, 110), (20, 120))
    assert index.lookup(9) == TimestampOffset(-1, 100)
    assert index.lookup(10) == TimestampOffset(10, 110)
    assert index.lookup(19) == TimestampOffset(10, 110)
    assert index.lookup(2**62) == TimestampOffset(20, 120)


def test_timestamp_that_is_not_later_adds_no_entry() -> None:
    index = index_of((10, 110), (10, 110), (10, 115))
    assert list(index.entries()) == [TimestampOffset(10, 110)]
    assert index.last_entry == TimestampOffset(10, 110)


def test_log_without_timestamps_has_an_empty_index() -> None:
    index = index_of((-1, 110), (-1, 120))
    assert index.entry_count == 0
    assert index.last_entry == TimestampOffset(-1, 100)


def test_going_back_in_time_or_offset_is_refused() -> None:
    index = index_of((10, 110))
    with pytest.raises(AssertionError):
        index.maybe_append(timestamp=9, offset=111)
    with pytest.raises(AssertionError):
        index.maybe_append(timestamp=11, offset=109)


def test_last_place_is_kept_for_rolling_the_segment() -> None:
    index = open_index(disk_with(), entries_max=2)
    index.maybe_append(timestamp=10, offset=110)
    assert index.room <= 0
    with pytest.raises(AssertionError, match="full"):
        index.maybe_append(timestamp=20, offset=120)
    index.maybe_append(timestamp=20, offset=120, skip_full_check=True)
    assert index.entry_count == 2


def test_truncate_to_drops_the_entry_at_the_offset_and_all_above() -> None:
    index = index_of((10, 110), (20, 120), (30, 130))
    index.flush()
    index.truncate_to(120)
    assert list(index.entries()) == [TimestampOffset(10, 110)]
    index.maybe_append(timestamp=15, offset=118)
    assert index.last_entry == TimestampOffset(15, 118)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(bytes(11), id="part of an entry"),
        pytest.param(bytes(120), id="preallocated and empty"),
        pytest.param((5).to_bytes(8, "big") + bytes(4) + bytes(24), id="preallocated tail"),
        pytest.param((5).to_bytes(8, "big") + b"\xff" * 4, id="below the base offset"),
    ],
)
def test_sanity_check_refuses_what_is_no_index(content: bytes) -> None:
    index = open_index(disk_with(content))
    with pytest.raises(CorruptIndexError, match="index its segment again"):
        index.sanity_check()
    index.truncate()
    index.sanity_check()
