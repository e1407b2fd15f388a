"""What any node that answers says of its cluster, and how to ask for a topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ottla.model import ErrorCode
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.schema import Message
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until

_CREATE_TOPICS_VERSION = 7
_METADATA_VERSION = 12
_DESCRIBE_QUORUM_VERSION = 2


class PartitionView(NamedTuple):
    leader: int
    isr: tuple[int, ...]


def create_topic(
    cluster: ClusterProcesses,
    name: str,
    replicas: Sequence[Sequence[int]],
    configs: Mapping[str, str] | None = None,
) -> None:
    """With these replicas of each partition, of which the first one leads."""
    topic = CreatableTopic(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(each))
            for index, each in enumerate(replicas)
        ],
        configs=[
            CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ],
    )
    node = cluster.running_brokers[0]
    request = CreateTopicsRequest(topics=[topic])
    expected = [ErrorCode.NONE]
    while True:
        (result,) = _send_request(cluster, node, request, _CREATE_TOPICS_VERSION).topics
        if result.error_code != ErrorCode.REQUEST_TIMED_OUT:
            break
        # On a busy host, the controller may have lost its leadership before it could answer.
        expected = [ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS]
    assert result.error_code in expected, result.error_message
    wait_in_sync(cluster, name)


def partitions(cluster: ClusterProcesses, node: NodeOfCluster, topic: str) -> list[PartitionView]:
    """In the order of their numbers, as one node knows them; none if it has not heard of them."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    (described,) = _send_request(cluster, node, request, _METADATA_VERSION).topics
    return [
        PartitionView(each.leader_id, tuple(sorted(each.isr_nodes)))
        for each in sorted(described.partitions, key=lambda each: each.partition_index)
    ]


def wait_in_sync(cluster: ClusterProcesses, topic: str, isr: Sequence[int] | None = None) -> None:
    """Returns when every broker that runs knows all partitions led, with this or a whole ISR."""
    expected = tuple(isr or (node.id for node in cluster.brokers))

    def are_in_sync() -> bool:
        views = [partitions(cluster, node, topic) for node in cluster.running_brokers]
        return all(views) and all(
            each.isr == expected and each.leader in expected for view in views for each in view
        )

    wait_until(are_in_sync, f"all partitions of {topic} have the ISR {expected}")


def active_controller(cluster: ClusterProcesses) -> int:
    """Once one is."""
    leader_id: int = _quorum(cluster).topics[0].partitions[0].leader_id
    return leader_id


def controller_listeners(cluster: ClusterProcesses) -> dict[int, list[str]]:
    """By controller, the listeners that the others know."""
    return {node.node_id: [each.name for each in node.listeners] for node in _quorum(cluster).nodes}


def _quorum(cluster: ClusterProcesses) -> Any:
    """As its leader describes it, once there is one."""
    found = []
    partition = DescribeQuorumRequestPartitionData(partition_index=0)
    topic = DescribeQuorumRequestTopicData(topic_name="__cluster_metadata", partitions=[partition])

    def is_known() -> bool:
        for node in cluster.running_brokers:
            answer = _send_request(
                cluster, node, DescribeQuorumRequest(topics=[topic]), _DESCRIBE_QUORUM_VERSION
            )
            if answer.error_code == ErrorCode.NONE:
                found.append(answer)
                return True
        return False

    wait_until(is_known, "there is an active controller")
    return found[0]


def _send_request(
    cluster: ClusterProcesses, node: NodeOfCluster, request: Message, version: int
) -> Any:
    with cluster.connect(node) as connection:
        return connection.send_request(request, version)
