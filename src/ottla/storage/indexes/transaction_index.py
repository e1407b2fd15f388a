"""`.txnindex`: the aborted transactions whose markers are in a segment.

34 bytes per entry, big-endian: version 0, producer id, the transaction's first offset, its last
offset (the marker's), and the partition's last stable offset after the marker was written. Last
offsets ascend, because markers are appended in log order.

Most segments have no aborted transactions, and then no file.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator
from posixpath import dirname
from typing import Final, NamedTuple

from ottla.runtime.disk import Disk, File
from ottla.storage.errors import CorruptIndexError
from ottla.storage.files.rewriting import rewrite, sync_file

_ENTRY: Final = struct.Struct(">hqqqq")
_LAST_OFFSET: Final = struct.Struct(">q")
_LAST_OFFSET_AT: Final = 18
_VERSION: Final = 0
_READ_SIZE: Final = 120 * _ENTRY.size


class AbortedTransaction(NamedTuple):
    """A transaction that read_committed consumers skip. Offsets are inclusive."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class AbortedTransactions(NamedTuple):
    """Aborted transactions of one segment. Unless `is_complete`, the next segment may have more."""

    transactions: list[AbortedTransaction]
    is_complete: bool


class TransactionIndex:
    """The transaction index of one segment.

    Opens its file if it exists, else creates it at the first `append`; owns it until `close`.
    Appends are written at once and are durable after `sync`, including the file's name. After a
    rename of the segment's files the caller sets `path`, because the file may be created later.
    """

    __slots__ = (
        "_disk",
        "_file",
        "_last_offset",
        "_name_is_durable",
        "_size",
        "path",
        "start_offset",
    )

    def __init__(self, disk: Disk, path: str, *, start_offset: int) -> None:
        self.path = path
        self.start_offset = start_offset
        self._disk = disk
        self._file: File | None = disk.open(path) if disk.exists(path) else None
        self._name_is_durable = True
        self._size = self._file.size() if self._file else 0
        self._last_offset = self._read_last_offset()

    @property
    def entry_count(self) -> int:
        return self._size // _ENTRY.size

    def append(self, transaction: AbortedTransaction) -> None:
        assert self._size % _ENTRY.size == 0, f"{self.path} has to pass sanity_check first"
        assert transaction.last_offset > self._last_offset, f"{transaction} is not in order"
        if self._file is None:
            self._file = self._disk.open(self.path, create=True)
            self._name_is_durable = False
        self._file.write_at(self._size, [_ENTRY.pack(_VERSION, *transaction)])
        self._size += _ENTRY.size
        self._last_offset = transaction.last_offset

    def collect(self, *, fetch_offset: int, upper_bound_offset: int) -> AbortedTransactions:
        """The transactions that overlap a fetch from `fetch_offset` to below `upper_bound_offset`.

        No transaction is open below a last stable offset. Once an entry's last stable offset
        reaches the upper bound, all later entries belong to transactions that begin at or above it.
        """
        found = []
        for transaction in self._entries_from(self._slot_of(fetch_offset)):
            if transaction.first_offset < upper_bound_offset:
                found.append(transaction)
            if transaction.last_stable_offset >= upper_bound_offset:
                return AbortedTransactions(found, is_complete=True)
        return AbortedTransactions(found, is_complete=False)

    def entries(self) -> Iterator[AbortedTransaction]:
        return self._entries_from(0)

    def truncate_to(self, offset: int) -> None:
        """Removes every transaction whose marker is at or above `offset`."""
        self._keep(self._slot_of(offset))

    def truncate(self) -> None:
        """Removes every entry and anything else in the file."""
        self._keep(0)

    def sanity_check(self) -> None:
        """Reads the whole index. Raises `CorruptIndexError` if it is invalid."""
        if self._size % _ENTRY.size:
            raise self._corrupt(
                f"its size of {self._size} bytes is not a multiple of an entry's {_ENTRY.size}"
            )
        last_offset = self.start_offset - 1
        for transaction in self.entries():
            if transaction.last_offset <= max(last_offset, transaction.first_offset):
                raise self._corrupt(f"{transaction} follows offset {last_offset}")
            last_offset = transaction.last_offset

    def rewrite(self) -> None:
        """Rewrites every entry, so that the next sync makes it durable."""
        if self._file is not None:
            rewrite(self._file, 0, self._size)

    @property
    def needs_sync(self) -> bool:
        return self._file is not None

    def note_synced(self) -> None:
        self._name_is_durable = True

    def sync(self) -> None:
        if self._file is not None:
            sync_file(self._file)
        if not self._name_is_durable:
            self._disk.sync_directory(dirname(self.path))
            self._name_is_durable = True

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _slot_of(self, offset: int) -> int:
        """The slot of the first entry whose last offset is at or above `offset`."""
        return bisect_left(range(self.entry_count), offset, key=self._last_offset_at)

    def _last_offset_at(self, slot: int) -> int:
        position = slot * _ENTRY.size + _LAST_OFFSET_AT
        (last_offset,) = _LAST_OFFSET.unpack(self._read(position, _LAST_OFFSET.size))
        assert isinstance(last_offset, int)
        return last_offset

    def _entries_from(self, slot: int) -> Iterator[AbortedTransaction]:
        end = self.entry_count * _ENTRY.size
        for position in range(slot * _ENTRY.size, end, _READ_SIZE):
            entries = self._read(position, min(_READ_SIZE, end - position))
            for version, *fields in _ENTRY.iter_unpack(entries):
                if version != _VERSION:
                    raise self._corrupt(f"version {version} of an entry is unknown")
                yield AbortedTransaction(*fields)

    def _keep(self, entry_count: int) -> None:
        if self._file is not None:
            self._size = entry_count * _ENTRY.size
            self._file.truncate(self._size)
            self._last_offset = self._read_last_offset()

    def _read_last_offset(self) -> int:
        return self._last_offset_at(self.entry_count - 1) if self.entry_count else -1

    def _read(self, position: int, length: int) -> bytes:
        assert self._file is not None, "entries without a file"
        found = self._file.read_at(position, length)
        if len(found) != length:
            raise self._corrupt(f"it ended at {position + len(found)} instead of {self._size}")
        return found

    def _corrupt(self, reason: str) -> CorruptIndexError:
        return CorruptIndexError(
            f"{self.path} is corrupt: {reason}. Truncate it and index its segment again."
        )
