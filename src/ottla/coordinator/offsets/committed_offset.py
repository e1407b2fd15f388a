"""An offset that a group has committed."""

from __future__ import annotations

from typing import NamedTuple

from ottla.model import NO_LEADER_EPOCH, NO_TIMESTAMP, ZERO_UUID, Uuid

NO_COMMITTED_OFFSET = -1


class CommittedOffset(NamedTuple):
    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_timestamp: int = NO_TIMESTAMP
    # Only old versions of OffsetCommit set an expiry.
    expire_timestamp: int = NO_TIMESTAMP
    topic_id: Uuid = ZERO_UUID
    # The offset of its record: the late end of a transaction must not replace newer commits.
    record_offset: int = -1

    def is_about(self, topic_id: Uuid) -> bool:
        """Whether it was committed for this topic, and not for an earlier topic of the same name.
        True if either topic id is unknown."""
        return ZERO_UUID in (topic_id, self.topic_id) or self.topic_id == topic_id
