"""A coordinator that dies: its groups go on with another one."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from ottla.testing import Cluster
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.confluent.client import ConfluentClient

PARTITIONS = 4
SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.heartbeat.interval.ms": "200",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=3, properties=SETTINGS) as cluster:
        yield cluster


def members(cluster: Cluster, topic: str, protocol: str, lost: list[int]) -> list[Consumer]:
    """Two, each with half of the partitions; `lost` is what is taken from them."""
    client = ConfluentClient(cluster.bootstrap)
    consumers = []
    for _ in range(2):
        consumer = client.consumer(group_id=topic, group_protocol=protocol)
        consumer.subscribe(
            [topic], on_revoke=lambda _, gone: lost.extend(each.partition for each in gone)
        )
        consumers.append(consumer)
    deadline = perf_counter() + TIMEOUT_S
    while any(len(consumer.assignment()) != PARTITIONS // 2 for consumer in consumers):
        assert perf_counter() < deadline
        for consumer in consumers:
            consumer.poll(0.05)
    return consumers


def commit(consumer: Consumer, offset: int) -> bool:
    offsets = [TopicPartition(each.topic, each.partition, offset) for each in consumer.assignment()]
    try:
        consumer.commit(offsets=offsets, asynchronous=False)
    except KafkaException:
        return False
    return True


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
def test_members_keep_their_partitions_and_offsets(cluster: Cluster, protocol: str) -> None:
    topic = f"failover-{protocol}"
    cluster.create_topic(topic, partitions=PARTITIONS)
    lost: list[int] = []
    consumers = members(cluster, topic, protocol, lost)
    assert all(commit(consumer, 1) for consumer in consumers)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    coordinator = admin.describe_consumer_groups([topic])[topic].result().coordinator.id
    lost.clear()

    cluster.kill(coordinator)

    names = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    found = consumers[0].committed(names, TIMEOUT_S)
    assert [each.offset for each in found] == [1] * PARTITIONS
    deadline = perf_counter() + TIMEOUT_S
    for consumer in consumers:
        while not commit(consumer, 2):
            assert perf_counter() < deadline
            consumer.poll(0.05)
    assert lost == []
    for consumer in consumers:
        consumer.close()
    cluster.restart(coordinator)
