"""The current leader, for a client that sent its request to another node (KIP-951)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.listener_view import ListenerView
from ottla.model import ErrorCode, TopicPartition, Uuid

L = TypeVar("L")
E = TypeVar("E")

_WRONG_NODE_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class LeaderHints(Generic[L, E]):
    """Created for one response, with its structs for a leader and for an endpoint. Collects the
    leaders it names, to add their endpoints."""

    def __init__(
        self,
        cluster: ClusterView,
        listener: str,
        leader: Callable[..., L],
        endpoint: Callable[..., E],
    ) -> None:
        self._cluster = cluster
        self._listener = listener
        self._leader = leader
        self._endpoint = endpoint
        self._named: set[int] = set()

    def of(self, error: int, name: TopicPartition, topic_id: Uuid) -> L | None:
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
        return self._leader(leader_id=partition.leader, leader_epoch=partition.leader_epoch)

    def endpoints(self) -> list[E]:
        if not self._named:
            return []
        reachable = ListenerView(self._cluster.image, self._listener).all_brokers
        found = [reachable[node_id] for node_id in sorted(self._named) if node_id in reachable]
        return [
            self._endpoint(node_id=node.id, host=address.host, port=address.port, rack=node.rack)
            for node, address in found
        ]
