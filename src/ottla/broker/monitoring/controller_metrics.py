"""Metrics of the metadata quorum and of the cluster as this node's metadata has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from ottla.broker.broker import Broker
from ottla.broker.monitoring.pausing import in_steps
from ottla.metadata import NO_LEADER, BrokerRegistration, MetadataDelta, PartitionRegistration
from ottla.metrics import Metrics, Sample
from ottla.metrics.table import controllers as table
from ottla.metrics.table import replication
from ottla.raft.description import QuorumDescription, ReplicaDescription

_QUORUM_STATES: Final = (
    "leader",
    "follower",
    "candidate",
    "prospective",
    "unattached",
    "resigned",
)
_BROKER_STATES: Final = ("active", "fenced", "controlled_shutdown")


class ControllerMetrics:
    """Registers its sources when it is made, and from then on counts changes."""

    def __init__(self, metrics: Metrics, broker: Broker) -> None:
        self._broker = broker
        self._quorum = broker.service.controller.quorum
        self._leader = self._quorum.leader_and_epoch
        self._elections = metrics.counter(table.QUORUM_ELECTIONS)
        self._leader_changes = metrics.counter(table.LEADER_CHANGES)
        self._shrinks = metrics.counter(replication.ISR_SHRINKS)
        self._expands = metrics.counter(replication.ISR_EXPANDS)
        self._quorum.listen_leader(self._quorum_changed)
        broker.metadata.listen(self._metadata_changed)
        self._measure_quorum(metrics)
        if broker.config.is_controller:
            self._unclean = metrics.counter(table.UNCLEAN_ELECTIONS)
            self._measure_cluster(metrics)

    def _measure_quorum(self, metrics: Metrics) -> None:
        quorum, metadata = self._quorum, self._broker.metadata
        for family, value in (
            (table.ACTIVE_CONTROLLER, lambda: int(quorum.is_active)),
            (table.QUORUM_LEADER, self._leader_id),
            (table.QUORUM_EPOCH, lambda: quorum.leader_and_epoch.epoch),
            (table.QUORUM_VOTERS, lambda: len(quorum.voters.voters)),
            (table.METADATA_LOG_END_OFFSET, lambda: quorum.log.log_end_offset),
            (table.METADATA_HIGH_WATERMARK, lambda: metadata.end_offset),
            (table.METADATA_VERSION, lambda: metadata.image.metadata_version),
        ):
            metrics.measure(family, _reading(value))
        metrics.measure(table.QUORUM_STATE, self._states)
        metrics.measure(table.QUORUM_OBSERVERS, self._observers)
        metrics.measure(table.QUORUM_REPLICA_LAG, self._replica_lags)

    def _measure_cluster(self, metrics: Metrics) -> None:
        metrics.measure(table.OFFLINE_PARTITIONS, self._offline)
        metrics.measure(table.PREFERRED_LEADER_IMBALANCE, self._imbalanced)
        metrics.measure(table.CLUSTER_BROKERS, self._brokers)
        metrics.measure(
            table.CLUSTER_TOPICS, lambda: [((), len(self._broker.cluster.image.topics))]
        )
        metrics.measure(
            table.CLUSTER_DELETED_TOPICS,
            lambda: [((), len(self._broker.cluster.image.deleted_topics))],
        )
        metrics.measure(
            table.CLUSTER_PARTITIONS,
            lambda: _count(self._broker, lambda _each: True),
        )

    # ---- the quorum

    def _leader_id(self) -> int:
        leader_id = self._quorum.leader_and_epoch.leader_id
        return -1 if leader_id is None else leader_id

    def _states(self) -> Iterator[Sample]:
        present = type(self._quorum.raft.state).__name__.lower()
        for state in _QUORUM_STATES:
            yield (state,), int(state == present)

    def _observers(self) -> Iterator[Sample]:
        described = self._quorum.describe()
        if described is not None:
            yield (), len(described.observers)

    def _replica_lags(self) -> Iterator[Sample]:
        described = self._quorum.describe()
        if described is not None:
            yield from self._lags_of(described, described.replicas, "voter")
            yield from self._lags_of(described, described.observers, "observer")

    def _lags_of(
        self, described: QuorumDescription, replicas: list[ReplicaDescription], role: str
    ) -> Iterator[Sample]:
        end = self._quorum.log.log_end_offset
        for replica in replicas:
            known = 0 if replica.end_offset is None else replica.end_offset
            lag = 0 if replica.key.id == described.leader_id else max(end - known, 0)
            yield (str(replica.key.id), role), lag

    def _quorum_changed(self) -> None:
        leader = self._quorum.leader_and_epoch
        if leader.leader_id is not None and leader != self._leader:
            self._leader = leader
            self._elections.add()

    # ---- the cluster

    def _offline(self) -> Iterator[Sample | None]:
        return _count(self._broker, lambda each: each.leader == NO_LEADER)

    def _imbalanced(self) -> Iterator[Sample | None]:
        return _count(self._broker, lambda each: each.leader != each.preferred_leader)

    def _brokers(self) -> Iterator[Sample]:
        counts = Counter(map(_state_of, self._broker.cluster.image.brokers.values()))
        for state in _BROKER_STATES:
            yield (state,), counts[state]

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        topics, me = self._broker.cluster.image.topics, self._broker.cluster.node_id
        for topic_id, changed in delta.partitions_changed.items():
            topic = topics.by_id.get(topic_id)
            for index, before in changed.items():
                after = None if topic is None else topic.partitions.get(index)
                if before is None or after is None:
                    continue
                if after.leader not in (before.leader, NO_LEADER):
                    self._leader_changes.add()
                    if self._broker.config.is_controller and _is_unclean(before, after):
                        self._unclean.add()
                if after.leader == me and before.isr != after.isr:
                    self._shrinks.add(bool(set(before.isr) - set(after.isr)))
                    self._expands.add(bool(set(after.isr) - set(before.isr)))


def _count(
    broker: Broker, is_counted: Callable[[PartitionRegistration], bool]
) -> Iterator[Sample | None]:
    """The partitions of the cluster that are counted. Copies one topic at a time, because there may
    be very many partitions."""
    count = 0
    for topic in list(broker.cluster.image.topics):
        for partition in in_steps(topic.partitions.values()):
            if partition is None:
                yield None
            elif is_counted(partition):
                count += 1
        yield None
    yield (), count


def _state_of(broker: BrokerRegistration) -> str:
    if broker.fenced:
        return "fenced"
    return "controlled_shutdown" if broker.in_controlled_shutdown else "active"


def _is_unclean(before: PartitionRegistration, after: PartitionRegistration) -> bool:
    """Whether the new leader was neither in sync nor known to have all committed records."""
    return after.leader not in (*before.isr, *before.eligible_leader_replicas)


def _reading(value: Callable[[], int]) -> Callable[[], list[Sample]]:
    return lambda: [((), value())]
