"""`.index`: maps offsets to positions in the log file, with an entry every few kilobytes of log.

Eight bytes per entry, big-endian: a batch's last offset relative to the segment's base offset, and
the position where the batch starts.

Kafka preallocates this file and truncates it when it rolls or closes the segment, so after a crash
the file ends in zeros. Kafka accepts such zeros as entries and relies on recovery to rebuild the
index; here `sanity_check` refuses them. That is exact, because no index has an entry for position
0: the first batch of a segment is found without one.
"""

from __future__ import annotations

import struct
from typing import ClassVar, Final, NamedTuple

from ottla.storage.indexes.index_file import IndexFile

RELATIVE_OFFSET_MAX: Final = 2**31 - 1
_BY_OFFSET: Final = 0
_BY_POSITION: Final = 1


class OffsetPosition(NamedTuple):
    """An offset, and where in the log file its batch starts."""

    offset: int
    position: int


class OffsetIndex(IndexFile[OffsetPosition]):
    """The offset index of one segment. See `IndexFile` for ownership and failure."""

    __slots__ = ()

    ENTRY: ClassVar[struct.Struct] = struct.Struct(">ii")

    @property
    def room(self) -> int:
        """The number of entries that can still be added."""
        return self.entries_max - self.entry_count

    def append(self, *, offset: int, position: int) -> None:
        relative_offset = offset - self.base_offset
        assert self.room > 0, f"{self.file.path} is full; the segment had to be rolled"
        assert 0 <= relative_offset <= RELATIVE_OFFSET_MAX, f"{offset} is not in {self.file.path}"
        assert position > 0, "the first batch of a segment has no entry; sanity_check relies on it"
        last = self._last
        assert last is None or relative_offset > last[0], f"{offset} after {self.last_entry.offset}"
        self._append_pair((relative_offset, position))

    def lookup(self, offset: int) -> OffsetPosition:
        """The last entry at or below `offset`, or the segment's start."""
        found = self._last_at_most(offset - self.base_offset, _BY_OFFSET)
        return self._entry(found[1] if found else None)

    def upper_bound(self, start: OffsetPosition, *, size: int) -> OffsetPosition | None:
        """The first entry `size` bytes or more after `start`, if there is one.

        A fetch of `size` bytes from `start` ends below the offset of this entry.
        """
        found = self._last_at_most(start.position + size - 1, _BY_POSITION)
        slot = found[0] + 1 if found else 0
        return self._entry(self._pair_at(slot)) if slot < self.entry_count else None

    def truncate_to(self, offset: int) -> None:
        """Removes every entry at or above `offset`."""
        self._keep_below(offset - self.base_offset, _BY_OFFSET)

    def sanity_check(self) -> None:
        """Raises `CorruptIndexError` if the file is not a valid index. Does not read all of it."""
        self._check_size()
        if self._last is None:
            return
        relative_offset, position = self._last
        if position == 0:
            raise self._corrupt("it ends in zeros, as a preallocated index does after a crash")
        if relative_offset < 0 or position < 0:
            raise self._corrupt(f"its last entry is {self.last_entry}")
        first = self._pair_at(0)
        if self.entry_count > 1 and (first[0] >= relative_offset or first[1] >= position):
            raise self._corrupt(f"it begins with {self._entry(first)} and ends {self.last_entry}")

    def _entry(self, pair: tuple[int, int] | None) -> OffsetPosition:
        if pair is None:
            return OffsetPosition(self.base_offset, 0)
        return OffsetPosition(self.base_offset + pair[0], pair[1])
