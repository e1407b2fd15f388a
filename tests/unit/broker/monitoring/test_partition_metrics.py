"""What a node says about its partitions."""

from __future__ import annotations

import errno

import pytest

from ottla.broker.monitoring.controller_metrics import ControllerMetrics
from ottla.broker.monitoring.partition_metrics import PartitionMetrics
from ottla.metadata import PartitionRegistration
from ottla.metadata.delta import MetadataDelta
from ottla.metrics import Family
from ottla.metrics.table import controllers, replication, storage, topics
from tests.support.nodes.one_node import NODE_ID, OneNode, StartNode
from tests.support.nodes.registered_follower import FOLLOWER, led_partition
from tests.support.storage.batches import batch_of


def measured(node: OneNode) -> OneNode:
    PartitionMetrics(node.broker.metrics, node.broker)
    ControllerMetrics(node.broker.metrics, node.broker)
    return node


def value(node: OneNode, family: Family, *labels: str) -> float:
    found = dict(node.broker.metrics.samples(family))
    result = found[labels]
    assert isinstance(result, int | float)
    return result


def test_a_partition_with_a_missing_follower_is_under_replicated(node: OneNode) -> None:
    measured(node)
    node.create_topic("alone")
    led_partition(node)
    assert value(node, replication.PARTITIONS) == 2
    assert value(node, replication.LEADER_PARTITIONS) == 2
    assert value(node, replication.UNDER_REPLICATED_PARTITIONS) == 1
    assert value(node, replication.UNDER_MIN_ISR_PARTITIONS) == 0
    # As with Kafka, also the only replica of a partition is at min.insync.replicas.
    assert value(node, replication.AT_MIN_ISR_PARTITIONS) == 2
    node.broker.partitions.by_name("orders", 0).set_min_insync_replicas(2)
    assert value(node, replication.UNDER_MIN_ISR_PARTITIONS) == 1
    assert value(node, replication.AT_MIN_ISR_PARTITIONS) == 1
    assert value(node, controllers.CLUSTER_PARTITIONS) == 2
    assert value(node, controllers.CLUSTER_BROKERS, "fenced") == 1


def test_logs_are_measured_by_partition_and_directory(node: OneNode) -> None:
    measured(node)
    node.create_topic("orders")
    batch = batch_of(b"one", b"two")
    size = len(batch)
    node.append("orders", batch)
    assert value(node, storage.LOG_SIZE, "orders", "0", "/data") == size
    assert value(node, storage.LOG_SEGMENTS, "orders", "0") == 1
    assert value(node, storage.LOG_START_OFFSET, "orders", "0") == 0
    assert value(node, storage.LOG_END_OFFSET, "orders", "0") == 2
    assert value(node, storage.HIGH_WATERMARK, "orders", "0") == 2


def test_a_failed_directory_and_its_replicas_are_offline(start_node: StartNode) -> None:
    node = measured(start_node(directories=("/a", "/b")))
    node.create_topic("orders", partitions=2)
    failures = node.broker.failures
    failures.directory_failed("/b", OSError(errno.EIO, "broken on purpose"))
    assert value(node, storage.LOG_DIRECTORY_OFFLINE, "/a") == 0
    assert value(node, storage.LOG_DIRECTORY_OFFLINE, "/b") == 1
    assert value(node, replication.OFFLINE_REPLICAS) == 1


def test_the_traffic_of_a_deleted_topic_is_forgotten(node: OneNode) -> None:
    measured(node)
    topic_id = node.create_topic("orders", partitions=2)
    traffic = node.broker.partitions.by_name("orders", 1).traffic
    assert traffic is node.broker.partitions.by_name("orders", 0).traffic
    traffic.sent_bytes += 7
    assert value(node, topics.TOPIC_SENT_BYTES, "orders") == 7
    node.broker.partitions.remove_topic(topic_id)
    assert not list(node.broker.metrics.samples(topics.TOPIC_SENT_BYTES))


@pytest.mark.parametrize(
    ("isr", "leader", "elr", "unclean"),
    [
        ((NODE_ID, FOLLOWER), FOLLOWER, (), 0),
        ((NODE_ID,), FOLLOWER, (), 1),
        ((NODE_ID,), FOLLOWER, (FOLLOWER,), 0),
    ],
)
def test_a_leader_from_outside_the_isr_is_an_unclean_election(
    node: OneNode, isr: tuple[int, ...], leader: int, elr: tuple[int, ...], unclean: int
) -> None:
    measured(node)
    led_partition(node)
    topic = node.image.topics.by_name["orders"]
    before: PartitionRegistration = topic.partitions[0]._replace(
        isr=isr, leader=NODE_ID, eligible_leader_replicas=elr
    )
    topic.partitions[0] = before._replace(leader=leader, isr=(leader,))
    delta = MetadataDelta(partitions_changed={topic.id: {0: before}})
    changes = value(node, controllers.LEADER_CHANGES)
    for listener in node.broker.metadata._listeners[-1:]:
        listener(delta)
    assert value(node, controllers.LEADER_CHANGES) == changes + 1
    assert value(node, controllers.UNCLEAN_ELECTIONS) == unclean


def test_isr_changes_are_counted_by_the_leader(node: OneNode) -> None:
    measured(node)
    led_partition(node)
    topic = node.image.topics.by_name["orders"]
    alone = topic.partitions[0]
    both = alone._replace(isr=(NODE_ID, FOLLOWER))
    for before, after in ((alone, both), (both, alone), (alone, alone)):
        topic.partitions[0] = after
        delta = MetadataDelta(partitions_changed={topic.id: {0: before}})
        node.broker.metadata._listeners[-1](delta)
    assert value(node, replication.ISR_EXPANDS) == 1
    assert value(node, replication.ISR_SHRINKS) == 1
