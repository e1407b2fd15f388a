"""`.timeindex`: timestamps to offsets.

Twelve bytes an entry, big-endian: a timestamp, and relative to the segment's base offset the offset
of the record that has it. An entry says: up to this offset nothing is later than this timestamp.

After a crash of Kafka the file ends in zeros (see offset_index.py); `sanity_check` refuses them,
because timestamps ascend and the only entry for timestamp 0 can be the first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import ClassVar, Final, NamedTuple

from ottla.model import NO_TIMESTAMP
from ottla.runtime.disk import File
from ottla.storage.indexes.index_file import IndexFile
from ottla.storage.indexes.offset_index import RELATIVE_OFFSET_MAX

_BY_TIMESTAMP: Final = 0
_BY_OFFSET: Final = 1


class TimestampOffset(NamedTuple):
    """A timestamp, and the offset of a record that has it."""

    timestamp: int
    offset: int


class TimeIndex(IndexFile):
    """The time index of one segment. See `IndexFile` for ownership and failure."""

    __slots__ = ("base_offset", "entries_max")

    ENTRY: ClassVar[struct.Struct] = struct.Struct(">qi")

    def __init__(self, file: File, *, base_offset: int, entries_max: int) -> None:
        super().__init__(file)
        self.base_offset = base_offset
        self.entries_max = entries_max

    @property
    def room(self) -> int:
        """How many more entries it takes before only the place is left that rolling the segment
        fills."""
        return self.entries_max - 1 - self.entry_count

    @property
    def last_entry(self) -> TimestampOffset:
        """The greatest entry, or no timestamp at the segment's start where there is none."""
        return self._entry(self._last)

    def maybe_append(self, *, timestamp: int, offset: int, skip_full_check: bool = False) -> None:
        """Appends if the timestamp is later than the last one.

        The full check is skipped when a segment is rolled or closed, which has a place reserved.
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
        """The greatest entry that is not later than `timestamp`, or the segment's start."""
        found = self._last_at_most(timestamp, _BY_TIMESTAMP)
        return self._entry(found[1] if found else None)

    def truncate_to(self, offset: int) -> None:
        """Drops every entry at `offset` or above it."""
        self._keep_below(offset - self.base_offset, _BY_OFFSET)

    def entries(self) -> Iterator[TimestampOffset]:
        for pair in self._pairs():
            yield self._entry(pair)

    def sanity_check(self) -> None:
        """Raises `CorruptIndexError` if the file cannot be an index; does not read all of it."""
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
