"""The leader's state of its followers: their offsets, the ISR, and the pending ISR change.

Invariants: this node is in every ISR; the committed ISR is a subset of the maximal ISR; the high
watermark is at or below the log end offset of every replica of the maximal ISR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ottla.metadata import BrokerRegistration, PartitionRegistration
from ottla.model import ErrorCode, KafkaError, NodeId, TopicPartition
from ottla.replication.isr_change import InSyncReplica, IsrChange, IsrChanges, ProposingPartition
from ottla.replication.partition_read import FetchingFollower, ReadReplica
from ottla.replication.remote_replica import UNKNOWN_BROKER_EPOCH, RemoteReplica


class LeaderContext(NamedTuple):
    """What the node provides to the partitions that it leads."""

    node_id: NodeId
    # The epoch of this node's own registration.
    broker_epoch: Callable[[], int]
    # A broker's registration in the newest metadata.
    broker: Callable[[int], BrokerRegistration | None]
    isr_changes: IsrChanges
    replica_lag_time_max_ms: int


class Leadership:
    """Owned by a partition that this node leads and that has other replicas."""

    __slots__ = ("context", "isr", "maximal_isr", "pending", "remote")

    def __init__(self, context: LeaderContext) -> None:
        self.context = context
        self.remote: dict[int, RemoteReplica] = {}
        self.isr: frozenset[int] = frozenset()
        self.maximal_isr: frozenset[int] = frozenset()
        self.pending: IsrChange | None = None

    def follow(self, registration: PartitionRegistration) -> None:
        """Takes over the replicas and the ISR of the metadata."""
        known, me = self.remote, self.context.node_id
        self.remote = {
            each: known.get(each) or RemoteReplica(each)
            for each in registration.replicas
            if each != me
        }
        self.commit(registration.isr)

    def begin_epoch(self, *, leader_end: int, now_ms: int) -> None:
        for replica in self.remote.values():
            is_in_sync = replica.id in self.isr
            replica.begin_epoch(is_in_sync=is_in_sync, leader_end=leader_end, now_ms=now_ms)

    # ---- the ISR

    def commit(self, isr: Iterable[int]) -> None:
        self.isr = self.maximal_isr = frozenset(isr)
        self.pending = None
        for replica in self.remote.values():
            if replica.id in self.isr:
                replica.is_joining = False

    def propose(self, partition: ProposingPartition, isr: Iterable[int]) -> None:
        assert self.pending is None, "one change of a partition at a time"
        change = self.pending = IsrChange(
            partition.topic_id,
            partition.name.partition,
            partition.leader_epoch,
            partition.partition_epoch,
            tuple(InSyncReplica(each, self._broker_epoch(each)) for each in sorted(isr)),
        )
        self.maximal_isr = self.isr.union(isr)
        self.context.isr_changes.propose(partition, change)

    def forget_proposal(self) -> None:
        self.pending = None
        self.maximal_isr = self.isr

    def _broker_epoch(self, replica_id: int) -> int:
        if replica_id == self.context.node_id:
            return self.context.broker_epoch()
        replica = self.remote.get(replica_id)
        return UNKNOWN_BROKER_EPOCH if replica is None else replica.broker_epoch

    def is_eligible(self, replica: RemoteReplica) -> bool:
        """Whether the replica may join the ISR: its broker is active, and its fetches come from
        the registered broker epoch."""
        broker = self.context.broker(replica.id)
        return (
            broker is not None
            and broker.is_active
            and replica.broker_epoch in (UNKNOWN_BROKER_EPOCH, broker.epoch)
        )

    def _is_stale(self, follower: FetchingFollower) -> bool:
        """Whether the fetch has an older broker epoch than the follower's registration."""
        broker = self.context.broker(follower.node_id)
        return broker is not None and UNKNOWN_BROKER_EPOCH != follower.broker_epoch < broker.epoch

    def can_join(self, replica: RemoteReplica, offset: int) -> bool:
        """Whether the leader can propose this replica for the ISR: it has reached `offset`, is
        eligible, and no other change is pending."""
        return (
            self.pending is None and replica.log_end_offset >= offset and self.is_eligible(replica)
        )

    def expand(self, partition: ProposingPartition, *, leader_end: int) -> None:
        """Proposes eligible followers that have the whole log. On an idle partition their fetches
        do not trigger a proposal: an incremental fetch leaves out unchanged partitions."""
        returned = {
            replica.id
            for replica in self.remote.values()
            if replica.id not in self.maximal_isr and self.can_join(replica, leader_end)
        }
        if returned:
            self.propose(partition, self.isr | returned)

    def look(self, *, leader_end: int, now_ms: int) -> list[int]:
        """Updates the followers' lag and `is_joining`, and returns the ISR members that have
        lagged for too long."""
        late = []
        for replica in self.remote.values():
            replica.look(leader_end=leader_end, now_ms=now_ms)
            if replica.is_joining:
                self.note_joining(replica, leader_end=leader_end, now_ms=now_ms)
            elif replica.id in self.isr and not self._is_caught_up(replica, leader_end, now_ms):
                late.append(replica.id)
        return late

    def _is_caught_up(self, replica: RemoteReplica, leader_end: int, now_ms: int) -> bool:
        lag_max_ms = self.context.replica_lag_time_max_ms
        return replica.is_caught_up(leader_end=leader_end, now_ms=now_ms, lag_max_ms=lag_max_ms)

    def is_below(self, min_insync_replicas: int) -> bool:
        """Whether the ISR is too small. The minimum is capped at the number of replicas."""
        return len(self.isr) < min(min_insync_replicas, len(self.remote) + 1)

    # ---- offsets

    def require(self, follower: FetchingFollower, name: TopicPartition) -> RemoteReplica:
        """Returns the follower's state; raises if it has no replica or its fetch is stale."""
        if follower.node_id not in self.remote:
            # This node may not have received the newest metadata yet: the follower retries.
            raise KafkaError(
                ErrorCode.UNKNOWN_LEADER_EPOCH,
                f"this node does not know a replica of {name} on node {follower.node_id} yet",
            )
        if self._is_stale(follower):
            raise KafkaError(
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
                f"node {follower.node_id} has registered again since it sent this fetch",
            )
        return self.remote[follower.node_id]

    def note_joining(self, replica: RemoteReplica, *, leader_end: int, now_ms: int) -> None:
        replica.is_joining = (
            replica.id not in self.maximal_isr
            and self._is_caught_up(replica, leader_end, now_ms)
            and self.is_eligible(replica)
        )

    def replicated_up_to(self, leader_end: int) -> int:
        """The lowest log end offset among this log, the maximal ISR and joining followers."""
        end = leader_end
        for replica in self.remote.values():
            if replica.log_end_offset < end and (
                replica.id in self.maximal_isr or replica.is_joining
            ):
                end = replica.log_end_offset
        return end

    def read_replicas(self, offset: int, *, now_ms: int) -> list[ReadReplica]:
        return [
            ReadReplica(each.id, each.log_end_offset, now_ms - each.caught_up_ms)
            for each in self.remote.values()
            if each.id in self.isr and each.log_start_offset <= offset <= each.log_end_offset
        ]

    def low_watermark(self, leader_start: int) -> int:
        """The lowest log start offset of this node and all live replicas."""
        start = leader_start
        for replica in self.remote.values():
            if replica.log_start_offset < start and self._is_alive(replica.id):
                start = replica.log_start_offset
        return start

    def _is_alive(self, replica_id: int) -> bool:
        broker = self.context.broker(replica_id)
        return broker is not None and not broker.fenced
