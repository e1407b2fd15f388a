"""Log compaction: of every key the newest value stays, at the offset that it always had.

Three steps, so that the event loop never waits for one: `plan_compaction` decides on the thread of
the log's owner, `compact` does the work on files alone, in any process, and `swap_in` puts it into
effect, on the owner's thread again. Then `CleanerOffsets.advance` notes how far the log is clean.
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
