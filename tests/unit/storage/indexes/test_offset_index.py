from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.errors import CorruptIndexError
from ottla.storage.indexes.offset_index import OffsetIndex, OffsetPosition

PATH = "/00000000000000000100.index"


def disk_with(content: bytes = b"") -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.open(PATH, create=True).write_at(0, [content])
    return disk


def content_of(disk: SimulatedDisk) -> bytes:
    return disk.open(PATH).read_at(0, disk.file_size(PATH))


def open_index(disk: SimulatedDisk, entries_max: int = 1_000_000) -> OffsetIndex:
    return OffsetIndex(disk.open(PATH), base_offset=100, entries_max=entries_max)


def index_of(*entries: tuple[int, int]) -> OffsetIndex:
    index = open_index(disk_with())
    for offset, position in entries:
        index.append(offset=offset, position=position)
    return index


def test_entries_are_big_endian_relative_offset_and_position() -> None:
    disk = disk_with()
    index = open_index(disk)
    index.append(offset=103, position=4097)
    index.append(offset=100 + 2**31 - 1, position=2**31 - 1)
    index.close()
    assert content_of(disk).hex() == "00000003000010017fffffff7fffffff"


def test_lookup_gives_the_greatest_entry_not_above_the_offset() -> None:
    index = index_of((110, 4000), (120, 8000))
    assert index.lookup(110) == OffsetPosition(110, 4000)
    assert index.lookup(119) == OffsetPosition(110, 4000)
    assert index.lookup(2**40) == OffsetPosition(120, 8000)


def test_lookup_below_the_first_entry_gives_the_start_of_the_segment() -> None:
    assert index_of((110, 4000)).lookup(109) == OffsetPosition(100, 0)
    assert index_of().lookup(500) == OffsetPosition(100, 0)
    assert index_of().last_entry == OffsetPosition(100, 0)


def test_upper_bound_is_the_first_entry_at_or_after_the_fetched_bytes() -> None:
    index = index_of((110, 4000), (120, 8000), (130, 12000))
    start = OffsetPosition(100, 0)
    assert index.upper_bound(start, size=1) == OffsetPosition(110, 4000)
    assert index.upper_bound(start, size=4000) == OffsetPosition(110, 4000)
    assert index.upper_bound(OffsetPosition(110, 4000), size=4001) == OffsetPosition(130, 12000)
    assert index.upper_bound(OffsetPosition(110, 4000), size=8001) is None


def test_entries_wait_for_a_block_and_go_out_in_one_write() -> None:
    disk = disk_with()
    index = open_index(disk)
    disk.counters = DiskCounters()
    for n in range(511):
        index.append(offset=101 + n, position=1 + n)
    assert disk.counters == DiskCounters()
    assert index.lookup(300) == OffsetPosition(300, 200)
    assert disk.counters == DiskCounters()
    index.append(offset=612, position=512)
    assert disk.counters == DiskCounters(writes=1, bytes_written=4096)
    assert index.lookup(300) == OffsetPosition(300, 200)


@pytest.mark.parametrize(
    ("reads_max", "relative_offset"),
    [
        pytest.param(4, lambda slot: 100 * slot, id="even"),
        pytest.param(24, lambda slot: slot * slot // 4096 + slot, id="ever denser"),
        pytest.param(24, lambda slot: slot if slot < 5000 else slot + 2**30, id="with a gap"),
    ],
)
def test_lookup_in_a_full_index_needs_few_reads(
    reads_max: int, relative_offset: Callable[[int], int]
) -> None:
    entries_max = 10 * 1024 * 1024 // 8
    entry = struct.Struct(">ii")
    disk = disk_with(b"".join(entry.pack(relative_offset(n), n + 1) for n in range(entries_max)))
    index = open_index(disk, entries_max)
    assert index.room <= 0
    for slot in range(0, entries_max, 9999):
        offset = 100 + relative_offset(slot)
        disk.counters.reads = 0
        assert index.lookup(offset) == OffsetPosition(offset, slot + 1)
        assert disk.counters.reads <= reads_max


def test_reopened_index_continues_where_it_was_closed() -> None:
    disk = disk_with()
    index = open_index(disk)
    index.append(offset=110, position=4000)
    index.close()
    reopened = open_index(disk)
    assert reopened.entry_count == 1
    reopened.append(offset=120, position=8000)
    assert list(reopened.entries()) == [OffsetPosition(110, 4000), OffsetPosition(120, 8000)]
    assert reopened.last_entry == OffsetPosition(120, 8000)


@pytest.mark.parametrize("entry_count", [512, 513, 1024, 1500, 2048])
def test_lookup_is_right_on_both_sides_of_every_entry(entry_count: int) -> None:
    index = index_of(*((100 + 10 * n, 50 * n) for n in range(1, entry_count + 1)))
    index.flush()
    for n in range(1, entry_count + 1):
        before = OffsetPosition(100 + 10 * (n - 1), 50 * (n - 1))
        assert index.lookup(100 + 10 * n - 1) == before
        assert index.lookup(100 + 10 * n) == OffsetPosition(100 + 10 * n, 50 * n)


@pytest.mark.parametrize("flushed", [False, True])
def test_truncate_to_drops_the_entry_at_the_offset_and_all_above(flushed: bool) -> None:
    index = index_of((110, 4000), (120, 8000), (130, 12000))
    if flushed:
        index.flush()
    index.truncate_to(120)
    assert list(index.entries()) == [OffsetPosition(110, 4000)]
    assert index.last_entry == OffsetPosition(110, 4000)
    index.append(offset=115, position=5000)
    index.truncate_to(50)
    assert index.entry_count == 0


def test_offsets_that_do_not_ascend_or_do_not_fit_are_refused() -> None:
    index = index_of((110, 4000))
    for offset in (110, 109, 100 + 2**31):
        with pytest.raises(AssertionError):
            index.append(offset=offset, position=8000)


def test_index_is_full_at_its_maximum() -> None:
    index = open_index(disk_with(), entries_max=1)
    assert index.room > 0
    index.append(offset=101, position=5)
    assert index.room <= 0


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x00" * 7, id="part of an entry"),
        pytest.param(b"\x00\x00\x00\x05\x00\x00\x10\x00" + bytes(80), id="preallocated tail"),
        pytest.param(bytes(8), id="preallocated and empty"),
        pytest.param(b"\x00\x00\x00\x05\x00\x00\x10\x00" * 2, id="not ascending"),
        pytest.param(b"\xff\xff\xff\xff\x00\x00\x10\x00", id="below the base offset"),
    ],
)
def test_sanity_check_refuses_what_is_no_index(content: bytes) -> None:
    index = open_index(disk_with(content))
    with pytest.raises(CorruptIndexError, match="index its segment again"):
        index.sanity_check()
    index.truncate()
    index.append(offset=110, position=4000)
    index.flush()
    index.sanity_check()
    assert list(index.entries()) == [OffsetPosition(110, 4000)]


def test_file_cut_behind_the_index_is_reported_as_corrupt() -> None:
    disk = disk_with()
    index = open_index(disk)
    index.append(offset=110, position=4000)
    index.flush()
    disk.open(PATH).truncate(3)
    with pytest.raises(CorruptIndexError):
        index.lookup(110)
