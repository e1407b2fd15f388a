"""The delivery states of a record in a share group.

Available ──acquire──▶ Acquired ──accept──▶ AcknowledgedOffsets
    ▲                     │  │
    └──release, timeout───┘  └──reject, or released too often──▶ Archived
"""

from __future__ import annotations

from enum import IntEnum


class RecordState(IntEnum):
    """Numbered as in the share coordinator's log."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVED = 4

    @property
    def is_terminal(self) -> bool:
        return self in (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED)


class AcknowledgeType(IntEnum):
    """Numbered as in ShareFetch and ShareAcknowledge."""

    # The log has no record at this offset.
    GAP = 0
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4
