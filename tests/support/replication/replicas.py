"""Partitions that lead or follow, on logs of their own, in few words."""

from __future__ import annotations

from typing import Any

from ottla.metadata import BrokerRegistration, PartitionRegistration
from ottla.model import ZERO_UUID, ErrorCode, LeaderEpoch, NodeId, TopicPartition, Uuid
from ottla.replication.isr_change import (
    CommittedIsr,
    IsrChange,
    ProposingPartition,
)
from ottla.replication.leadership import LeaderContext
from ottla.replication.partition import ACKS_ALL, FetchingFollower, Partition, PartitionRead
from ottla.storage.log.log import Log
from ottla.wire.messages.fetch import FetchPartition
from tests.support.controller.brokers import broker
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import NOW_MS, PARTITION, new_log

TOPIC_ID = Uuid(b"t" * 16)
LAG_MAX_MS = 1_000
BATCH_BYTES = len(batch_of(b"v"))


def registered(
    *,
    leader: int = 1,
    isr: tuple[int, ...] = (1, 2, 3),
    replicas: tuple[int, ...] = (1, 2, 3),
    leader_epoch: int = 0,
    partition_epoch: int = 0,
) -> PartitionRegistration:
    directories = (ZERO_UUID,) * len(replicas)
    return PartitionRegistration(replicas, isr, leader, leader_epoch, partition_epoch, directories)


def new_partition(
    log: Log | None = None, name: TopicPartition = PARTITION, *, epoch: int = -1
) -> Partition:
    """A replica that has no metadata yet."""
    partition = Partition(name, TOPIC_ID, leader=NodeId(-1), leader_epoch=LeaderEpoch(epoch))
    partition.log = log or new_log()
    return partition


def new_follower(log: Log | None = None, **registration: Any) -> Partition:
    """Node 2, which follows node 1."""
    partition = new_partition(log)
    partition.become_follower(registered(**registration))
    return partition


class Leader:
    """Node 1 with a partition that it leads; nodes 2 and 3 follow. Also its `IsrChanges`."""

    def __init__(
        self, log: Log | None = None, *, made_under: int = -1, **registration: Any
    ) -> None:
        self.now_ms = 0
        self.brokers: dict[int, BrokerRegistration] = {
            node_id: broker(node_id, epoch=10 * node_id) for node_id in (1, 2, 3)
        }
        self.proposed: list[IsrChange] = []
        self.partition = new_partition(log, epoch=made_under)
        self.become(**registration)

    @property
    def log(self) -> Log:
        return self.partition.require_log()

    def become(self, **registration: Any) -> bool:
        context = LeaderContext(NodeId(1), lambda: 10, self.brokers.get, self, LAG_MAX_MS)
        return self.partition.become_leader(registered(**registration), context, now_ms=self.now_ms)

    def propose(self, partition: ProposingPartition, change: IsrChange) -> None:
        assert partition is self.partition
        self.proposed.append(change)

    def commit(self) -> None:
        """The controller does what was proposed last."""
        change = self.proposed[-1]
        isr = tuple(each.id for each in change.new_isr)
        committed = CommittedIsr(change.leader_epoch, change.partition_epoch + 1, isr)
        self.partition.isr_change_committed(change, committed)

    def append(self, count: int = 1, *, acks: int = ACKS_ALL) -> list[ErrorCode]:
        """Appends batches of one record; the responses to their producers come later."""
        results: list[ErrorCode] = []
        for _ in range(count):
            result = self.partition.append(batch_of(b"v"), now_ms=NOW_MS, acks=acks)
            self.partition.when_acknowledged(result.last_offset + 1, results.append)
        return results

    def fetch(
        self,
        node_id: int,
        offset: int,
        *,
        last_epoch: int = -1,
        broker_epoch: int | None = None,
        leader_epoch: int | None = None,
        log_start: int = 0,
        looks_again: bool = False,
    ) -> PartitionRead:
        """A follower's fetch, which says that it has everything below `offset`."""
        epoch = self.brokers[node_id].epoch if broker_epoch is None else broker_epoch
        current = self.partition.leader_epoch if leader_epoch is None else leader_epoch
        follower = FetchingFollower(node_id, epoch)
        requested = FetchPartition(
            fetch_offset=offset,
            last_fetched_epoch=last_epoch,
            current_leader_epoch=current,
            log_start_offset=log_start,
        )
        if not looks_again:
            self.partition.record_follower_fetch(follower, requested, now_ms=self.now_ms)
        return self.partition.read_for_follower(
            follower, requested, bytes_max=1 << 20, min_one_batch=True
        )
