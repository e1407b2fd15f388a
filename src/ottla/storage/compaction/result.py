"""The result of a compaction: cleaned segments, not yet swapped in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ottla.storage.compaction.plan import CompactionPlan, PlannedSegment
from ottla.storage.errors import StorageError


class CompactionCancelledError(StorageError):
    """The compaction was cancelled. The log is unchanged."""


@dataclass(frozen=True, slots=True)
class CleanedGroup:
    """Adjacent segments, and the size of the one that replaces them."""

    replaced: tuple[PlannedSegment, ...]
    size: int

    @property
    def base_offset(self) -> int:
        return self.replaced[0].base_offset

    @property
    def end_offset(self) -> int:
        return self.replaced[-1].end_offset


class UnreadableBatch(NamedTuple):
    """A batch with a valid checksum and invalid records, from a faulty producer."""

    base_offset: int
    last_offset: int
    reason: str

    def __str__(self) -> str:
        return f"offsets {self.base_offset} to {self.last_offset}: {self.reason}"


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """Durable cleaned segments, in order, for `swap_in`. Can be pickled."""

    plan: CompactionPlan
    groups: tuple[CleanedGroup, ...]
    # The first dirty offset once all groups are swapped in.
    first_dirty_offset: int
    records_read: int
    records_kept: int
    # The number of unreadable batches that were kept unchanged, and the first of them.
    unreadable_count: int = 0
    unreadable: tuple[UnreadableBatch, ...] = ()
