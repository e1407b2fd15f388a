"""What the quorum's messages have in common: one partition, and word of the leader.

They are made for many partitions, but there is only `__cluster_metadata-0`: a message about
anything else is invalid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from ottla.model import Uuid
from ottla.raft.voters import VoterEndpoint

TOPIC: Final = "__cluster_metadata"
TOPIC_ID: Final = Uuid(bytes(15) + b"\x01")
PARTITION: Final = 0
NOBODY: Final = -1

P = TypeVar("P")


class LeaderView(NamedTuple):
    """Whom a replica takes for the leader of its epoch, and where that is reached."""

    epoch: int
    leader_id: int | None
    endpoint: VoterEndpoint | None

    @classmethod
    def told(cls, leader_id: int, *, epoch: int, endpoint: VoterEndpoint | None) -> LeaderView:
        """As a message has it, in which -1 is nobody."""
        return cls(epoch, None if leader_id < 0 else leader_id, endpoint)

    @property
    def id_or_nobody(self) -> int:
        return NOBODY if self.leader_id is None else self.leader_id


def only_partition(partitions: Sequence[tuple[str, int, P]]) -> P | None:
    """The metadata partition, if a message with these is about that and nothing else."""
    if len(partitions) != 1 or partitions[0][:2] != (TOPIC, PARTITION):
        return None
    return partitions[0][2]
