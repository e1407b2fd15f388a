"""Transactions over several nodes, whose coordinator and leaders may die."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ottla.coordinator.runtime.placement import partition_for
from ottla.testing import Cluster
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.transactions import values
from tests.support.nodes.stable_topics import wait_stable

PARTITIONS = 6
SETTINGS = {"transaction.state.log.num.partitions": "3", "offsets.topic.num.partitions": "3"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=3, properties=SETTINGS) as cluster:
        yield cluster


def coordinator_of(cluster: Cluster, key: str, *, of: str = "__transaction_state") -> int:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    topic = admin.list_topics(of, timeout=TIMEOUT_S).topics[of]
    index = partition_for(key, partition_count=len(topic.partitions))
    return int(topic.partitions[index].leader)


def transactional(cluster: Cluster, topic: str) -> Producer:
    producer = ConfluentClient(cluster.bootstrap).producer(transactional_id=topic)
    producer.init_transactions(TIMEOUT_S)
    return producer


def write(producer: Producer, topic: str, value: str) -> None:
    """The same value to each partition."""
    for index in range(PARTITIONS):
        producer.produce(topic, value, partition=index)
    assert producer.flush(TIMEOUT_S) == 0


def committed(cluster: Cluster, topic: str) -> list[str]:
    wait_stable(cluster.bootstrap, topic, partitions=PARTITIONS)
    return values(cluster.bootstrap, topic, partitions=PARTITIONS)


def test_transactions_over_all_nodes_end_as_requested(cluster: Cluster) -> None:
    topic = "all-nodes"
    cluster.create_topic(topic, partitions=PARTITIONS)
    producer = transactional(cluster, topic)
    for number in range(20):
        producer.begin_transaction()
        write(producer, topic, f"{number:02}")
        if number % 4:
            producer.commit_transaction(TIMEOUT_S)
        else:
            producer.abort_transaction(TIMEOUT_S)
    expected = [f"{number:02}" for number in range(20) if number % 4 for _ in range(PARTITIONS)]
    assert committed(cluster, topic) == expected


@pytest.mark.parametrize("commits", [True, False])
def test_transaction_outlives_its_coordinator(cluster: Cluster, commits: bool) -> None:
    topic = f"coordinator-dies-{commits}"
    cluster.create_topic(topic, partitions=PARTITIONS)
    producer = transactional(cluster, topic)
    producer.begin_transaction()
    write(producer, topic, "before")
    coordinator = coordinator_of(cluster, topic)

    cluster.kill(coordinator)

    if commits:
        producer.commit_transaction(TIMEOUT_S)
    else:
        producer.abort_transaction(TIMEOUT_S)
    producer.begin_transaction()
    write(producer, topic, "next")
    producer.commit_transaction(TIMEOUT_S)
    cluster.restart(coordinator)
    expected = [*(["before"] * PARTITIONS * commits), *(["next"] * PARTITIONS)]
    assert committed(cluster, topic) == expected


def test_markers_find_the_next_leaders(cluster: Cluster) -> None:
    topic = "leader-dies"
    cluster.create_topic(topic, partitions=PARTITIONS)
    producer = transactional(cluster, topic)
    producer.begin_transaction()
    write(producer, topic, "before")
    leader = next(each for each in cluster.running if each != coordinator_of(cluster, topic))

    cluster.kill(leader)

    producer.commit_transaction(TIMEOUT_S)
    expected = ["before"] * PARTITIONS
    assert committed(cluster, topic) == expected
    cluster.restart(leader)


def test_offsets_are_sent_though_the_groups_coordinator_dies(cluster: Cluster) -> None:
    """librdkafka hangs past every timeout if it gets COORDINATOR_NOT_AVAILABLE too often, or
    if the dead one is gone from Metadata before it has looked for another."""
    topic = "group-coordinator-dies"
    cluster.create_topic(topic, partitions=PARTITIONS)
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": topic})
    group = consumer.consumer_group_metadata()
    producer = transactional(cluster, topic)

    def copy(value: str, offset: int) -> None:
        producer.begin_transaction()
        write(producer, topic, value)
        offsets = [TopicPartition(topic, 0, offset)]
        producer.send_offsets_to_transaction(offsets, group, TIMEOUT_S)
        producer.commit_transaction(TIMEOUT_S)

    copy("before", 1)
    for round_number in range(2, 5):
        coordinator = coordinator_of(cluster, topic, of="__consumer_offsets")
        cluster.kill(coordinator)

        # A thread that hangs does not hold up the end of the tests.
        copying = threading.Thread(target=copy, args=("after", round_number), daemon=True)
        copying.start()
        copying.join(2 * TIMEOUT_S)
        assert not copying.is_alive()
        cluster.restart(coordinator)
    consumer.close()
    expected = [*(["after"] * 3 * PARTITIONS), *(["before"] * PARTITIONS)]
    assert sorted(committed(cluster, topic)) == expected
