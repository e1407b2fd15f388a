"""What a client knows of a cluster: nodes, topics and the leaders of partitions. Immutable.

A leader of an older epoch never replaces a newer one: a node whose metadata is behind may still
name it. Only another topic id, the sign of a topic that was deleted and created again, begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from ottla.model import ErrorCode, TopicPartition, Uuid
from ottla.runtime.network import Address
from ottla.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


class ClusterNode(NamedTuple):
    """A broker and its address for this client."""

    node_id: int
    host: str
    port: int
    rack: str | None = None

    @property
    def address(self) -> Address:
        return Address(self.host, self.port)


class PartitionLeader(NamedTuple):
    """The leader of a partition, and the epoch in which it leads."""

    node_id: int
    epoch: int = -1


class KnownPartition(NamedTuple):
    """`leader` is None while the partition has none."""

    partition: int
    leader: PartitionLeader | None
    leader_epoch: int = -1
    replicas: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()


class KnownTopic(NamedTuple):
    """`partitions` are in the order of their numbers, which begin with 0."""

    name: str
    topic_id: Uuid
    partitions: tuple[KnownPartition, ...]
    is_internal: bool = False


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """`errors` has the topics that were looked for and are not in `topics`, and why."""

    cluster_id: str | None = None
    controller_id: int = -1
    nodes: Mapping[int, ClusterNode] = field(default_factory=dict)
    topics: Mapping[str, KnownTopic] = field(default_factory=dict)
    errors: Mapping[str, ErrorCode] = field(default_factory=dict)
    topic_names: Mapping[Uuid, str] = field(default_factory=dict)

    def partition(self, partition: TopicPartition) -> KnownPartition | None:
        topic = self.topics.get(partition.topic)
        if topic is None or not 0 <= partition.partition < len(topic.partitions):
            return None
        return topic.partitions[partition.partition]

    def leader(self, partition: TopicPartition) -> PartitionLeader | None:
        found = self.partition(partition)
        return None if found is None else found.leader

    def with_leader(
        self, partition: TopicPartition, leader: PartitionLeader, nodes: Iterable[ClusterNode]
    ) -> ClusterMetadata:
        """With a newer leader, which another response than Metadata has named (KIP-951)."""
        found = self.partition(partition)
        if found is None or leader.node_id < 0 or leader.epoch <= found.leader_epoch:
            return self
        topic = self.topics[partition.topic]
        partitions = list(topic.partitions)
        partitions[partition.partition] = found._replace(leader=leader, leader_epoch=leader.epoch)
        return replace(
            self,
            nodes={**self.nodes, **{each.node_id: each for each in nodes}},
            topics={**self.topics, topic.name: topic._replace(partitions=tuple(partitions))},
        )

    def with_node(self, node: ClusterNode) -> ClusterMetadata:
        if self.nodes.get(node.node_id, node)._replace(rack=None) == node and (
            node.node_id in self.nodes
        ):
            return self
        return replace(self, nodes={**self.nodes, node.node_id: node})

    def without_nodes(self) -> ClusterMetadata:
        """Where a client begins again with its bootstrap addresses. Leaders keep their epochs."""
        return replace(self, nodes={}, controller_id=-1)


NOTHING_KNOWN: Final = ClusterMetadata()


def merged(
    known: ClusterMetadata, response: MetadataResponse, requested: frozenset[str] | None
) -> ClusterMetadata:
    """The metadata after a response to a request for some topics, or for all (None)."""
    topics = {} if requested is None else dict(known.topics)
    errors = {} if requested is None else dict(known.errors)
    for said in response.topics:
        name = said.name
        if name is None:
            continue
        topics.pop(name, None)
        errors.pop(name, None)
        if said.error_code and not said.partitions:
            errors[name] = ErrorCode(said.error_code)
        else:
            topics[name] = _topic(known.topics.get(name), said, name)
    return ClusterMetadata(
        response.cluster_id,
        response.controller_id,
        {
            node.node_id: ClusterNode(node.node_id, node.host, node.port, node.rack)
            for node in response.brokers
        },
        topics,
        errors,
        {topic.topic_id: name for name, topic in topics.items()},
    )


def _topic(known: KnownTopic | None, said: MetadataResponseTopic, name: str) -> KnownTopic:
    earlier: Sequence[KnownPartition] = ()
    if known is not None and known.topic_id == said.topic_id:
        earlier = known.partitions
    found = {each.partition_index: each for each in said.partitions}
    # A count that only a long list of indexes could justify: no gaps are filled beyond it.
    count = min(max(found, default=-1) + 1, len(found))
    partitions = tuple(
        _partition(earlier[index] if index < len(earlier) else None, found.get(index), index)
        for index in range(count)
    )
    return KnownTopic(name, Uuid(bytes(said.topic_id)), partitions, said.is_internal)


def _partition(
    known: KnownPartition | None, said: MetadataResponsePartition | None, index: int
) -> KnownPartition:
    if said is None:
        return KnownPartition(index, None)
    if known is not None and said.leader_epoch < known.leader_epoch:
        return known
    leader = None
    # A partition whose replicas are partly offline has an error in some versions, and a leader.
    if said.leader_id >= 0 and said.error_code in (0, ErrorCode.REPLICA_NOT_AVAILABLE):
        leader = PartitionLeader(said.leader_id, said.leader_epoch)
    return KnownPartition(
        index,
        leader,
        said.leader_epoch,
        tuple(said.replica_nodes),
        tuple(said.isr_nodes),
        tuple(said.offline_replicas),
    )
