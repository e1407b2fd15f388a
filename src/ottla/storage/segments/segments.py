"""The segments of a log in order, with lookup by offset."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from ottla.storage.segments.segment import Segment


class Segments:
    """Never empty once a log is open. The last segment is the active one."""

    __slots__ = ("_base_offsets", "_segments", "active")

    # The last segment, which is appended to.
    active: Segment

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._segments = sorted(segments, key=lambda segment: segment.base_offset)
        self._base_offsets = [segment.base_offset for segment in self._segments]
        self._note_active()

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def inactive(self) -> list[Segment]:
        return self._segments[:-1]

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self._segments)

    def containing(self, offset: int) -> Segment | None:
        """The last segment that begins at or before an offset."""
        found = bisect_right(self._base_offsets, offset)
        return self._segments[found - 1] if found else None

    def starting_with(self, offset: int) -> list[Segment]:
        """The segment that contains an offset, and all after it."""
        return self._segments[max(bisect_right(self._base_offsets, offset) - 1, 0) :]

    def between(self, start: int, end: int) -> list[Segment]:
        """All segments that overlap `start` (inclusive) to `end` (exclusive), judged by base
        offsets."""
        first = max(bisect_right(self._base_offsets, start) - 1, 0)
        return self._segments[first : bisect_left(self._base_offsets, end)]

    def after(self, segment: Segment) -> Segment | None:
        found = bisect_right(self._base_offsets, segment.base_offset)
        return self._segments[found] if found < len(self._segments) else None

    def end_offset(self, segment: Segment, log_end_offset: int) -> int:
        """The end of a segment: the next segment's base offset, or the log end offset."""
        following = self.after(segment)
        return log_end_offset if following is None else following.base_offset

    def add(self, segment: Segment) -> None:
        at = bisect_left(self._base_offsets, segment.base_offset)
        assert at == len(self) or self._base_offsets[at] != segment.base_offset, "base offset taken"
        self._segments.insert(at, segment)
        self._base_offsets.insert(at, segment.base_offset)
        self._note_active()

    def remove(self, segment: Segment) -> None:
        at = bisect_left(self._base_offsets, segment.base_offset)
        assert self._segments[at] is segment, "not a segment of this log"
        del self._segments[at], self._base_offsets[at]
        self._note_active()

    def _note_active(self) -> None:
        if self._segments:
            self.active = self._segments[-1]
