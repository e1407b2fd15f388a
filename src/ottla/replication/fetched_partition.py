"""A partition in a fetcher's hands."""

from __future__ import annotations

from typing import Final

from ottla.model import LeaderEpoch
from ottla.replication.fetch_session import PartitionKey
from ottla.replication.partition import Partition

# A leader that has not heard yet that it leads mostly has a moment later.
_BACKOFF_FIRST_MS: Final = 20
_DOUBLINGS_MAX: Final = 16


class FetchedPartition:
    """Made anew for every leader epoch that is followed; what is answered to an older one is then
    nobody's."""

    __slots__ = ("_errors", "fetch_offset", "is_behind", "key", "leader_epoch", "partition")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.key = PartitionKey(partition.topic_id, partition.name.partition)
        self.leader_epoch: LeaderEpoch = partition.leader_epoch
        # What the session last asked for.
        self.fetch_offset = -1
        # Whether the leader had committed more than this replica has; at first nobody knows.
        self.is_behind = True
        self._errors = 0

    @property
    def is_current(self) -> bool:
        """Whether this node still follows under the same leader, and still has the log."""
        partition = self.partition
        return (
            partition.leader_epoch == self.leader_epoch
            and not partition.is_leader
            and partition.log is not None
        )

    def succeeded(self) -> None:
        self._errors = 0

    def backoff_ms(self, backoff_ms_max: int) -> int:
        """How long to leave it alone after one more error."""
        self._errors = min(self._errors + 1, _DOUBLINGS_MAX)
        return min(_BACKOFF_FIRST_MS << (self._errors - 1), backoff_ms_max)
