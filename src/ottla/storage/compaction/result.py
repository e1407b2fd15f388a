"""What a compaction made: cleaned segments beside those that they are to replace."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """Cleaned segments on the device, in order, for `swap_in`. Can be pickled."""

    plan: CompactionPlan
    groups: tuple[CleanedGroup, ...]
    # Where the log is dirty from, once all groups are swapped in.
    first_dirty_offset: int
    records_read: int
    records_kept: int
