"""The progress of each replica as seen by the leader, for DescribeQuorum (KIP-595, KIP-836)."""

from __future__ import annotations

from typing import NamedTuple

from ottla.raft.progress import ReplicaProgress
from ottla.raft.quorum import Quorum
from ottla.raft.states import Leader
from ottla.raft.voters import ReplicaKey, VoterSet


class ReplicaDescription(NamedTuple):
    """Times are on the machine's clock; None if the replica has not fetched, or was not caught up,
    in this epoch."""

    key: ReplicaKey
    end_offset: int | None
    last_fetch_ms: int | None
    last_caught_up_ms: int | None


class QuorumDescription(NamedTuple):
    leader_id: int
    epoch: int
    high_watermark: int | None
    replicas: list[ReplicaDescription]
    observers: list[ReplicaDescription]
    voters: VoterSet


def describe_quorum(quorum: Quorum, *, now_ms: int) -> QuorumDescription | None:
    leader = quorum.state
    if not isinstance(leader, Leader):
        return None
    progress = leader.progress

    def described(replica: ReplicaProgress) -> ReplicaDescription:
        """The leader itself is always caught up, at the end of its own log."""
        if replica.key.admits(quorum.local):
            return ReplicaDescription(replica.key, quorum.log.end.offset, now_ms, now_ms)
        return ReplicaDescription(
            replica.key, replica.end_offset, replica.last_fetch_ms, replica.last_caught_up_ms
        )

    return QuorumDescription(
        leader_id=quorum.local.id,
        epoch=leader.epoch,
        high_watermark=progress.high_watermark,
        replicas=[described(progress.voters[each]) for each in sorted(progress.voters)],
        observers=[described(each) for each in progress.live_observers(now_ms=now_ms)],
        voters=quorum.voters,
    )
