"""The base of the offset index and the time index: a sorted file of fixed-size entries.

An entry is a pair of integers. Both ascend from entry to entry, so either can be searched. Kafka
maps its indexes into memory and preallocates them; here positional calls write and read the
entries. With a mapping, a failing disk would raise a signal, and a simulation could not crash it;
the page cache serves both equally well. So the file always ends with its last entry, and written
entries use no memory but the page cache.

New entries wait in a buffer of at most `BLOCK_SIZE` bytes that is written with one call. A crash
loses the buffer, as it would lose an unsynced mapping: recovery rebuilds the indexes of everything
above the recovery point from the log.

A lookup first searches the buffer, then the last block of the file, because almost all reads are
near the end of a log. Only then does it search the first entries of all blocks.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import ClassVar, Generic, TypeVar

from ottla.model import Buffer
from ottla.runtime.disk import File
from ottla.storage.errors import CorruptIndexError
from ottla.storage.files.rewriting import rewrite, sync_file

E = TypeVar("E")

BLOCK_SIZE = 4096
ENTRIES_READ_SIZE = 16 * BLOCK_SIZE


class IndexFile(ABC, Generic[E]):
    """A sorted file of entries of one struct, open for appends and lookups.

    Owns its file from construction to `close`. After an `OSError` the waiting entries stay in the
    buffer, so that a later `flush` repeats the write. After `flush`, `sync` may run on a worker;
    everything else runs on the thread that appends.
    """

    __slots__ = (
        "_block_size",
        "_is_synced",
        "_last",
        "_pending",
        "_size_found",
        "_written",
        "base_offset",
        "entries_max",
        "file",
    )

    ENTRY: ClassVar[struct.Struct]

    def __init__(self, file: File, *, base_offset: int, entries_max: int) -> None:
        entry_size = self.ENTRY.size
        self.file = file
        self.base_offset = base_offset
        self.entries_max = entries_max
        self._block_size = BLOCK_SIZE - BLOCK_SIZE % entry_size
        self._pending = bytearray()
        self._size_found = file.size()
        # An empty file has nothing to sync.
        self._is_synced = not self._size_found
        self._written = self._size_found - self._size_found % entry_size
        self._last = self._read_last()

    @property
    def entry_count(self) -> int:
        return (self._written + len(self._pending)) // self.ENTRY.size

    @property
    def last_entry(self) -> E:
        """The last entry, or the segment's start if there is none."""
        return self._entry(self._last)

    def entries(self) -> Iterator[E]:
        for pair in self._pairs():
            yield self._entry(pair)

    @property
    def size(self) -> int:
        """The size of all entries in bytes, including those in the buffer."""
        return self._written + len(self._pending)

    def truncate(self) -> None:
        """Removes every entry and anything else in the file."""
        self._keep_bytes(0)

    def flush(self) -> bool:
        """Writes the entries in the buffer, if any. They are durable after `sync`."""
        if not self._pending:
            return False
        self.file.write_at(self._written, [self._pending])
        self._written += len(self._pending)
        self._pending = bytearray()
        self._is_synced = False
        return True

    def sync(self) -> None:
        """Returns when everything flushed before is on the device. Most calls find no new
        entries."""
        if not self._is_synced:
            # Set before the sync: bytes written during it have to be synced again.
            self._is_synced = True
            try:
                sync_file(self.file)
            except OSError:
                self._is_synced = False
                raise

    def note_synced(self) -> None:
        """Records that the file is durable, and that nothing was written during the sync."""
        self._is_synced = True

    def rewrite(self) -> None:
        """Rewrites every entry, so that the next sync makes it durable."""
        self.flush()
        rewrite(self.file, 0, self._written)
        self._is_synced = False

    def close(self) -> None:
        self.flush()
        self.file.close()

    @abstractmethod
    def _entry(self, pair: tuple[int, int] | None) -> E:
        """The entry of a pair; the segment's start for None."""

    def _append_pair(self, pair: tuple[int, int]) -> None:
        self._pending += self.ENTRY.pack(*pair)
        self._last = pair
        if len(self._pending) >= self._block_size:
            # The entry's batch is already in the log, so a failed write must not fail the append.
            with suppress(OSError):
                self.flush()

    def _pairs(self) -> Iterator[tuple[int, int]]:
        chunk_size = ENTRIES_READ_SIZE - ENTRIES_READ_SIZE % self.ENTRY.size
        for position in range(0, self._written, chunk_size):
            yield from self.ENTRY.iter_unpack(self._read(position, chunk_size))
        yield from self.ENTRY.iter_unpack(bytes(self._pending))

    def _pair_at(self, slot: int) -> tuple[int, int]:
        position = slot * self.ENTRY.size
        if position >= self._written:
            key, value = self.ENTRY.unpack_from(self._pending, position - self._written)
        else:
            key, value = self.ENTRY.unpack(self._read(position, self.ENTRY.size))
        return key, value

    def _last_at_most(self, target: int, field: int) -> tuple[int, tuple[int, int]] | None:
        """The last entry whose field (0 or 1) is at most the target, with its slot."""
        pending = self._pending
        if pending and self.ENTRY.unpack_from(pending)[field] <= target:
            return self._last_in_block(pending, self._written, target, field)
        if not self._written:
            return None
        position = (self._written - 1) // self._block_size * self._block_size
        block = self._read(position, self._block_size)
        if position and (first := self.ENTRY.unpack_from(block)[field]) > target:
            position, block = self._block_before(position, first, target, field)
        return self._last_in_block(block, position, target, field)

    def _block_before(self, high: int, high_key: int, target: int, field: int) -> tuple[int, bytes]:
        """Finds the block that contains the target. The block at `high` begins above it.

        Keys grow evenly in most logs, so every other probe interpolates. The probes in between
        bisect, which bounds the search where keys grow unevenly.
        """
        unpack_from, block_size = self.ENTRY.unpack_from, self._block_size
        last_entry_at = block_size - self.ENTRY.size
        low, low_block = 0, self._read(0, block_size)
        low_key = unpack_from(low_block)[field]
        bisect = False
        while high - low > block_size and unpack_from(low_block, last_entry_at)[field] < target:
            blocks = (high - low) // block_size
            if bisect:
                step = blocks // 2
            else:
                step = max(blocks * (target - low_key) // (high_key - low_key), 1)
            bisect = not bisect
            middle = low + step * block_size
            block = self._read(middle, block_size)
            key = unpack_from(block)[field]
            if key <= target:
                low, low_key, low_block = middle, key, block
            else:
                high, high_key = middle, key
        return low, low_block

    def _last_in_block(
        self, block: Buffer, position: int, target: int, field: int
    ) -> tuple[int, tuple[int, int]] | None:
        unpack_from, entry_size = self.ENTRY.unpack_from, self.ENTRY.size
        starts = range(0, len(block), entry_size)
        found = bisect_right(starts, target, key=lambda at: unpack_from(block, at)[field])
        slot = position // entry_size + found - 1
        if slot < 0:
            return None
        key, value = unpack_from(block, (found - 1) * entry_size)
        return slot, (key, value)

    def _keep_below(self, target: int, field: int) -> None:
        """Removes every entry whose field is at or above the target."""
        found = self._last_at_most(target - 1, field)
        self._keep_bytes(0 if found is None else (found[0] + 1) * self.ENTRY.size)

    def _keep_bytes(self, size: int) -> None:
        if size >= self._written and size:
            del self._pending[size - self._written :]
        else:
            if size or self._written or self._size_found:
                self.file.truncate(size)
                self._is_synced = False
            self._pending = bytearray()
            self._written = self._size_found = size
        self._last = self._read_last()

    def _read_last(self) -> tuple[int, int] | None:
        return self._pair_at(self.entry_count - 1) if self.size else None

    def _read(self, position: int, length: int) -> bytes:
        length = min(length, self._written - position)
        found = self.file.read_at(position, length)
        if len(found) != length:
            raise self._corrupt(f"it ended at {position + len(found)} instead of {self._written}")
        return found

    def _check_size(self) -> None:
        if self._size_found % self.ENTRY.size:
            raise self._corrupt(
                f"its size of {self._size_found} bytes is not a multiple of an entry's "
                f"{self.ENTRY.size}"
            )

    def _corrupt(self, reason: str) -> CorruptIndexError:
        return CorruptIndexError(
            f"{self.file.path} is corrupt: {reason}. Truncate it and index its segment again."
        )
