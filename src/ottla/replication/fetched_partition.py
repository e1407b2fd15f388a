"""The state of a followed partition in a fetcher."""

from __future__ import annotations

from typing import Final

from ottla.channels.fetch_session import PartitionKey
from ottla.model import LeaderEpoch
from ottla.replication.partition import Partition

# A new leader that has not received its registration yet usually receives it soon after.
_BACKOFF_FIRST_MS: Final = 20
_DOUBLINGS_MAX: Final = 16


class FetchedPartition:
    """Created anew for every leader epoch, so that responses of an older epoch are ignored."""

    __slots__ = ("_errors", "fetch_offset", "key", "lag", "leader_epoch", "partition")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.key = PartitionKey(partition.topic_id, partition.name.partition)
        self.leader_epoch: LeaderEpoch = partition.leader_epoch
        # The offset of the last fetch request.
        self.fetch_offset = -1
        # The records up to the leader's high watermark that this log does not have. None until the
        # first response.
        self.lag: int | None = None
        self._errors = 0

    @property
    def is_behind(self) -> bool:
        """Assumed until the first response."""
        return self.lag != 0

    @property
    def is_current(self) -> bool:
        """Whether this node still follows in the same leader epoch and its log is online."""
        partition = self.partition
        return (
            partition.leader_epoch == self.leader_epoch
            and not partition.is_leader
            and partition.log is not None
        )

    def succeeded(self) -> None:
        self._errors = 0

    def backoff_ms(self, backoff_ms_max: int) -> int:
        """The backoff after one more error."""
        self._errors = min(self._errors + 1, _DOUBLINGS_MAX)
        return min(_BACKOFF_FIRST_MS << (self._errors - 1), backoff_ms_max)
