"""What a compaction made: cleaned segments beside those that they are to replace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ottla.storage.compaction.plan import CompactionPlan, PlannedSegment
from ottla.storage.errors import StorageError


class CompactionCancelledError(StorageError):
    """The compaction was told to stop. The log is as it was."""


@dataclass(frozen=True, slots=True)
class CleanedGroup:
    """Neighbouring segments, and the size of the one that was made of them."""

    replaced: tuple[PlannedSegment, ...]
    size: int

    @property
    def base_offset(self) -> int:
        return self.replaced[0].base_offset

    @property
    def end_offset(self) -> int:
        return self.replaced[-1].end_offset


class UnreadableBatch(NamedTuple):
    """A batch with a right checksum whose records are none: a producer with a bug sent it."""

    base_offset: int
    last_offset: int
    reason: str

    def __str__(self) -> str:
        return f"offsets {self.base_offset} to {self.last_offset}: {self.reason}"


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """Cleaned segments on the device, in order, for `swap_in`. Can be pickled."""

    plan: CompactionPlan
    groups: tuple[CleanedGroup, ...]
    # Where the log is dirty from, once all groups are swapped in.
    first_dirty_offset: int
    records_read: int
    records_kept: int
    # How many batches were kept as they are because they cannot be read, and the first of them.
    unreadable_count: int = 0
    unreadable: tuple[UnreadableBatch, ...] = ()
