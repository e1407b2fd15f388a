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
    # Only commits of old versions say when they expire.
    expire_timestamp: int = NO_TIMESTAMP
    topic_id: Uuid = ZERO_UUID
    # Where its record is: a transaction that ends late must not replace what was committed since.
    record_offset: int = -1

    def is_about(self, topic_id: Uuid) -> bool:
        """Whether it was committed for this topic, or for one before it that had its name."""
        return ZERO_UUID in (topic_id, self.topic_id) or self.topic_id == topic_id
