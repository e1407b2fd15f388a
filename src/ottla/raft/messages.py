"""Common parts of the quorum's messages: the single partition, and the leader.

The messages allow many partitions, but only `__cluster_metadata-0` exists: a message about any
other partition is invalid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from ottla.model import Uuid
from ottla.raft.voters import VoterEndpoint

TOPIC: Final = "__cluster_metadata"
TOPIC_ID: Final = Uuid(bytes(15) + b"\x01")
PARTITION: Final = 0
NO_REPLICA_ID: Final = -1

P = TypeVar("P")


class LeaderView(NamedTuple):
    """The leader of an epoch as one replica sees it, and the address of that leader."""

    epoch: int
    leader_id: int | None
    endpoint: VoterEndpoint | None

    @classmethod
    def from_message(
        cls, leader_id: int, *, epoch: int, endpoint: VoterEndpoint | None
    ) -> LeaderView:
        """From the fields of a message, where -1 means no leader."""
        return cls(epoch, None if leader_id < 0 else leader_id, endpoint)

    @property
    def id_or_minus_one(self) -> int:
        return NO_REPLICA_ID if self.leader_id is None else self.leader_id


def only_partition(partitions: Sequence[tuple[str, int, P]]) -> P | None:
    """The metadata partition if it is the only partition in a message, otherwise None."""
    if len(partitions) != 1 or partitions[0][:2] != (TOPIC, PARTITION):
        return None
    return partitions[0][2]
