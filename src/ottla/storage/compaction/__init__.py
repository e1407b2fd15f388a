"""Log compaction: keeps the newest value of every key, at its original offset.

Three steps, so that the event loop never waits for the work: `plan_compaction` decides on the
owner's thread, `compact` rewrites files in any process, and `swap_in` replaces the old segments,
again on the owner's thread. Then `CleanerOffsets.advance` records up to which offset the log is
clean.
"""

from ottla.storage.compaction.plan import CompactionPlan, plan_compaction
from ottla.storage.compaction.result import (
    CleanedGroup,
    CompactionCancelledError,
    CompactionResult,
)
from ottla.storage.compaction.swap import swap_groups, swap_in
from ottla.storage.compaction.throttle import Sleep
from ottla.storage.compaction.two_passes import compact

__all__ = [
    "CleanedGroup",
    "CompactionCancelledError",
    "CompactionPlan",
    "CompactionResult",
    "Sleep",
    "compact",
    "plan_compaction",
    "swap_groups",
    "swap_in",
]
