"""`.timeindex`: maps timestamps to offsets.

Twelve bytes per entry, big-endian: a timestamp, and an offset relative to the segment's base
offset. An entry means: no record up to this offset has a later timestamp.

After a crash of Kafka the file ends in zeros (see offset_index.py). `sanity_check` refuses them:
timestamps ascend, so only the first entry can have timestamp 0.
"""

from __future__ import annotations

import struct
from typing import ClassVar, Final, NamedTuple

from ottla.model import NO_TIMESTAMP
from ottla.storage.indexes.index_file import IndexFile
from ottla.storage.indexes.offset_index import RELATIVE_OFFSET_MAX

_BY_TIMESTAMP: Final = 0
_BY_OFFSET: Final = 1


class TimestampOffset(NamedTuple):
    """A timestamp, and the offset of a record, or the last offset of a batch, that has it."""

    timestamp: int
    offset: int


class TimeIndex(IndexFile[TimestampOffset]):
    """The time index of one segment. See `IndexFile` for ownership and failure."""

    __slots__ = ()

    ENTRY: ClassVar[struct.Struct] = struct.Struct(">qi")

    @property
    def room(self) -> int:
        """The number of entries that can still be added. One more is reserved for rolling the
        segment."""
        return self.entries_max - 1 - self.entry_count

    def maybe_append(self, *, timestamp: int, offset: int, skip_full_check: bool = False) -> None:
        """Appends an entry if the timestamp is later than the last one.

        `skip_full_check` is for rolling or closing a segment, which uses the reserved entry.
        """
        assert skip_full_check or self.room > 0, f"{self.file.path} is full; roll the segment"
        last_timestamp, last_offset = self._last or (NO_TIMESTAMP, 0)
        relative_offset = offset - self.base_offset
        assert last_offset <= relative_offset <= RELATIVE_OFFSET_MAX, (
            f"{offset} after {self.last_entry} in {self.file.path}"
        )
        assert self._last is None or timestamp >= last_timestamp, (
            f"timestamp {timestamp} after {self.last_entry} in {self.file.path}"
        )
        if timestamp > last_timestamp:
            self._append_pair((timestamp, relative_offset))

    def lookup(self, timestamp: int) -> TimestampOffset:
        """The last entry at or before `timestamp`, or the segment's start."""
        found = self._last_at_most(timestamp, _BY_TIMESTAMP)
        return self._entry(found[1] if found else None)

    def truncate_to(self, offset: int) -> None:
        """Removes every entry at or above `offset`."""
        self._keep_below(offset - self.base_offset, _BY_OFFSET)

    def sanity_check(self) -> None:
        """Raises `CorruptIndexError` if the file is not a valid index. Does not read all of it."""
        self._check_size()
        if self._last is None:
            return
        timestamp, relative_offset = self._last
        if timestamp < 0 or relative_offset < 0:
            raise self._corrupt(f"its last entry is {self.last_entry}")
        before = self._pair_at(max(self.entry_count - 2, 0))
        if self.entry_count > 1 and (before[0] >= timestamp or before[1] > relative_offset):
            raise self._corrupt(f"{self.last_entry} follows {self._entry(before)}")

    def _entry(self, pair: tuple[int, int] | None) -> TimestampOffset:
        if pair is None:
            return TimestampOffset(NO_TIMESTAMP, self.base_offset)
        return TimestampOffset(pair[0], self.base_offset + pair[1])
