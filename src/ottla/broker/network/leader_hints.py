"""The current leader, for a client that sent its request to another node (KIP-951)."""

from __future__ import annotations

from typing import NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.listener_view import ListenerView, ReachableBroker
from ottla.model import ErrorCode, TopicPartition, Uuid

_WRONG_NODE_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class LeaderHint(NamedTuple):
    node_id: int
    epoch: int


class LeaderHints:
    """Created for one response. Collects the leaders it names, to add their endpoints."""

    def __init__(self, cluster: ClusterView, listener: str) -> None:
        self._cluster = cluster
        self._listener = listener
        self._named: set[int] = set()

    def of(self, error: int, name: TopicPartition, topic_id: Uuid) -> LeaderHint | None:
        """The partition's leader, if there is one and `error` says that the client used a wrong or
        outdated leader."""
        if error not in _WRONG_NODE_ERRORS:
            return None
        topics = self._cluster.image.topics
        topic = topics.by_name.get(name.topic) if name.topic else topics.by_id.get(topic_id)
        partition = None if topic is None else topic.partitions.get(name.partition)
        if partition is None or partition.leader < 0:
            return None
        self._named.add(partition.leader)
        return LeaderHint(partition.leader, partition.leader_epoch)

    def endpoints(self) -> list[ReachableBroker]:
        if not self._named:
            return []
        reachable = ListenerView(self._cluster.image, self._listener).all_brokers
        return [reachable[node_id] for node_id in sorted(self._named) if node_id in reachable]
