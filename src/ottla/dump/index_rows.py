"""The entries of a segment's three indexes.

Kafka preallocates the first two and cuts them when it rolls or closes a segment, so those of the
active segment of a running broker, or of one that crashed, end in zeros. The entries stop there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

from ottla.dump.files import KnownFile
from ottla.dump.rows import Remark, Row
from ottla.dump.selection import Selection
from ottla.runtime.disk import Disk
from ottla.storage.offset_index import OffsetIndex, OffsetPosition
from ottla.storage.time_index import TimeIndex, TimestampOffset
from ottla.storage.transaction_index import AbortedTransaction, TransactionIndex

# Only an append asks for room, and nothing is appended here.
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
    """The entries before the zeros: no real one has position 0."""
    for entry in index.entries():
        if entry == (index.base_offset, 0):
            return
        yield entry


def used_time_entries(index: TimeIndex) -> Iterator[TimestampOffset]:
    """The entries before the zeros: timestamps ascend, so only the first can be 0."""
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
        yield from _zeros(file, index.entry_count - used)
        index.check_size()


def time_index_rows(disk: Disk, file: KnownFile, selection: Selection) -> Iterator[Row]:
    used = 0
    with open_time_index(disk, file) as index:
        for entry in used_time_entries(index):
            used += 1
            if entry.offset in selection:
                yield entry
        yield from _zeros(file, index.entry_count - used)


def transaction_index_rows(disk: Disk, file: KnownFile, selection: Selection) -> Iterator[Row]:
    with open_transaction_index(disk, file) as index:
        for entry in index.entries():
            if _overlaps(entry, selection):
                yield entry


def _overlaps(entry: AbortedTransaction, selection: Selection) -> bool:
    return selection.overlaps(first=entry.first_offset, last=entry.last_offset)


def _zeros(file: KnownFile, count: int) -> Iterator[Remark]:
    if count:
        yield Remark(
            f"{file.path}: {count} empty entries follow, as in the index of a segment that is "
            f"still written to, or was when its broker crashed"
        )
