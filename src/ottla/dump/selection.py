"""A range of offsets to read."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.storage.files.file_names import OFFSET_MAX


@dataclass(frozen=True, slots=True)
class Selection:
    """A range of offsets; both ends are inclusive."""

    from_offset: int = 0
    to_offset: int = OFFSET_MAX

    def __contains__(self, offset: int) -> bool:
        return self.from_offset <= offset <= self.to_offset

    def overlaps(self, *, first: int, last: int) -> bool:
        return first <= self.to_offset and last >= self.from_offset


EVERYTHING = Selection()
