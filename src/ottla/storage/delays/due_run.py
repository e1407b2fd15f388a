"""A file of entries in order: what does not fit into a queue's memory.

The file is a cache of what the log says. It is neither synced nor read by a later leader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import starmap
from typing import Final, NamedTuple

from ottla.runtime.disk import Disk, File
from ottla.storage.delays.due_entry import ENTRY_BYTES, DueEntry, entry_struct

FILE_SUFFIX: Final = ".due"
# Entries of one run in memory.
_BLOCK_ENTRIES: Final = 32
_WRITTEN_ENTRIES: Final = 1_024


class DueRun:
    """Read from its beginning to its end, a block at a time. Owned by a queue."""

    __slots__ = ("_at", "_block", "count", "file", "taken")

    def __init__(self, file: File, count: int, *, taken: int = 0) -> None:
        self.file = file
        self.count = count
        # The entries before this one were taken out of the queue.
        self.taken = taken
        self._block: list[DueEntry] = []
        self._at = 0

    def first(self) -> DueEntry | None:
        if self._at >= len(self._block):
            if self.taken >= self.count:
                return None
            self._block = list(read_entries(self.file, self.taken, self.count, _BLOCK_ENTRIES))
            self._at = 0
        return self._block[self._at]

    def take(self) -> None:
        self._at += 1
        self.taken += 1

    def remove(self, disk: Disk) -> None:
        self.file.close()
        disk.remove(self.file.path)


class MergePart(NamedTuple):
    """A run that is merged, from an entry on."""

    path: str
    start: int
    end: int


def read_entries(file: File, start: int, count: int, block: int) -> Iterator[DueEntry]:
    """Up to `block` entries from `start` on."""
    length = min(block, count - start)
    data = file.read_at(start * ENTRY_BYTES, length * ENTRY_BYTES)
    if len(data) < length * ENTRY_BYTES:
        raise OSError(f"{file.path} is shorter than it was written")
    return starmap(DueEntry, entry_struct.iter_unpack(data))


def write_run(disk: Disk, path: str, entries: Iterable[DueEntry]) -> DueRun:
    """Writes entries that are in order."""
    file = disk.open(path, create=True)
    gathered = bytearray()
    size = count = 0
    for entry in entries:
        gathered += entry_struct.pack(*entry)
        count += 1
        if len(gathered) >= _WRITTEN_ENTRIES * ENTRY_BYTES:
            size += file.write_at(size, [gathered])
            gathered = bytearray()
    if gathered:
        file.write_at(size, [gathered])
    return DueRun(file, count)


def merge_runs(disk: Disk, parts: tuple[MergePart, ...], path: str) -> int:
    """Writes the entries of several runs as one, and returns their number. Runs in a worker."""
    files = [disk.open_readonly(part.path) for part in parts]
    try:
        streams = [_stream(file, part) for file, part in zip(files, parts, strict=True)]
        run = write_run(disk, path, merge(*streams))
        run.file.close()
        return run.count
    finally:
        for file in files:
            file.close()


def _stream(file: File, part: MergePart) -> Iterator[DueEntry]:
    at = part.start
    while at < part.end:
        yield from read_entries(file, at, part.end, _WRITTEN_ENTRIES)
        at += _WRITTEN_ENTRIES
