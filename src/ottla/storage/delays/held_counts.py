"""How much a partition holds, by segment, so that retention knows which segments it needs."""

from __future__ import annotations


class HeldCounts:
    """Bytes are exact until records of a segment are released; then each counts as its average."""

    def __init__(self) -> None:
        self.records = 0
        self.size = 0
        # The number of records and bytes, by the segment's base offset.
        self._by_segment: dict[int, tuple[int, int]] = {}

    def add(self, segment: int, size: int) -> None:
        records, held = self._by_segment.get(segment, (0, 0))
        self._by_segment[segment] = records + 1, held + size
        self.records += 1
        self.size += size

    def remove(self, segment: int) -> None:
        """A record was released or cancelled. Does nothing for a segment that was deleted."""
        records, held = self._by_segment.get(segment, (0, 0))
        if not records:
            return
        size = held // records
        self.records -= 1
        self.size -= size
        if records > 1:
            self._by_segment[segment] = records - 1, held - size
        else:
            del self._by_segment[segment]

    def forget_below(self, segment: int) -> None:
        """Segments before this one were deleted."""
        for each in [each for each in self._by_segment if each < segment]:
            records, held = self._by_segment.pop(each)
            self.records -= records
            self.size -= held

    def oldest(self) -> int | None:
        """The base offset of the first segment that has held records."""
        return min(self._by_segment, default=None)
