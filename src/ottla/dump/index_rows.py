"""The entries of a segment's offset, time and transaction index.

Kafka preallocates the offset and time index and truncates them when it rolls or closes a segment.
In the active segment of a running or crashed broker they therefore end in zeros, where reading
stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

from ottla.dump.files import KnownFile
from ottla.dump.rows import Problem, Remark, Row
from ottla.dump.selection import Selection
from ottla.runtime.disk import Disk
from ottla.storage.indexes.offset_index import OffsetIndex, OffsetPosition
from ottla.storage.indexes.time_index import TimeIndex, TimestampOffset
from ottla.storage.indexes.transaction_index import TransactionIndex

# The index size limit matters only for appends, and nothing is appended here.
_NO_ROOM: Final = 0


def open_offset_index(disk: Disk, file: KnownFile) -> closing[OffsetIndex]:
    opened = disk.open_readonly(file.path)
    return closing(OffsetIndex(opened, base_offset=file.offset, entries_max=_NO_ROOM))


def open_time_index(disk: Disk, file: KnownFile) -> closing[TimeIndex]:
    opened = disk.open_readonly(file.path)
    return closing(TimeIndex(opened, base_offset=file.offset, entries_max=_NO_ROOM))


def open_transaction_index(disk: Disk, file: KnownFile) -> closing[TransactionIndex]:
    return closing(TransactionIndex(disk, file.path, start_offset=file.offset))


def used_offset_entries(index: OffsetIndex) -> Iterator[OffsetPosition]:
    """The entries before the zeros: no real entry has position 0."""
    for entry in index.entries():
        if entry == (index.base_offset, 0):
            return
        yield entry


def used_time_entries(index: TimeIndex) -> Iterator[TimestampOffset]:
    """The entries before the zeros: timestamps ascend, so only the first entry can be 0."""
    for number, entry in enumerate(index.entries()):
        if entry == (0, index.base_offset) and (number or index.entry_count > 1):
            return
        yield entry


def offset_index_rows(disk: Disk, file: KnownFile, selection: Selection) -> Iterator[Row]:
    used = 0
    with open_offset_index(disk, file) as index:
        for entry in used_offset_entries(index):
            used += 1
            if entry.offset in selection:
                yield entry
        yield from _ending(file, index, used)


def time_index_rows(disk: Disk, file: KnownFile, selection: Selection) -> Iterator[Row]:
    used = 0
    with open_time_index(disk, file) as index:
        for entry in used_time_entries(index):
            used += 1
            if entry.offset in selection:
                yield entry
        yield from _ending(file, index, used)


def transaction_index_rows(disk: Disk, file: KnownFile, selection: Selection) -> Iterator[Row]:
    with open_transaction_index(disk, file) as index:
        for entry in index.entries():
            if selection.overlaps(first=entry.first_offset, last=entry.last_offset):
                yield entry
        index.sanity_check()


def torn_entry(index: OffsetIndex | TimeIndex) -> Problem | None:
    """A problem if the file ends in an incomplete entry."""
    size = index.file.size()
    left = size % index.ENTRY.size
    if not left:
        return None
    reason = f"{index.file.path}: its last {left} bytes are not a whole entry"
    return Problem(reason, size - left)


def _ending(file: KnownFile, index: OffsetIndex | TimeIndex, used: int) -> Iterator[Row]:
    if empty := index.entry_count - used:
        yield Remark(
            f"{file.path}: empty entries at the end: {empty}. This is normal for the index of a "
            "segment that is being written to, or was when its broker crashed"
        )
    problem = torn_entry(index)
    if problem is not None:
        yield problem
