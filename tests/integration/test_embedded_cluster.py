from __future__ import annotations

import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from ottla.model import ErrorCode, KafkaError
from ottla.testing import Cluster

pytest_plugins = ["pytester"]


def produce(cluster: Cluster, topic: str, *values: bytes) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(10) == 0


def consume(cluster: Cluster, topic: str, count: int) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    while len(found) < count:
        message = consumer.poll(10)
        assert message is not None, f"{len(found)} of {count} came"
        assert message.error() is None
        found.append(message.value() or b"")
    consumer.close()
    return found


def test_a_client_produces_and_consumes() -> None:
    with Cluster() as cluster:
        cluster.create_topic("orders")
        produce(cluster, "orders", b"one", b"two")

        assert consume(cluster, "orders", 2) == [b"one", b"two"]


def test_clusters_live_side_by_side() -> None:
    with Cluster() as first, Cluster() as second:
        produce(first, "orders", b"first")
        produce(second, "orders", b"second")

        assert consume(first, "orders", 1) == [b"first"]
        assert consume(second, "orders", 1) == [b"second"]


def test_on_disk_it_can_be_started_again(tmp_path: Path) -> None:
    with Cluster(data_dir=tmp_path) as cluster:
        produce(cluster, "orders", b"kept")
    with Cluster(data_dir=tmp_path) as cluster:
        assert consume(cluster, "orders", 1) == [b"kept"]


def test_broker_configs_apply() -> None:
    with Cluster(properties={"num.partitions": "3", "node.id": "0"}) as cluster:
        produce(cluster, "orders", b"x")
        found = Producer({"bootstrap.servers": cluster.bootstrap}).list_topics("orders", timeout=10)

        assert len(found.topics["orders"].partitions) == 3
        assert list(found.brokers) == [0]


def test_a_topic_that_cannot_be_made_says_why() -> None:
    with Cluster() as cluster:
        with pytest.raises(KafkaError) as caught:
            cluster.create_topic("no spaces please")

        assert caught.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_once_imported_a_cluster_starts_in_a_blink() -> None:
    def seconds() -> float:
        started = time.perf_counter()
        with Cluster():
            return time.perf_counter() - started

    # The best of a few: other tests share the machine.
    assert min(seconds() for _ in range(4)) < 0.3


def test_the_fixture_works_in_tests_of_another_project(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from confluent_kafka import Producer

        def test_orders_are_published(ottla_cluster):
            producer = Producer({"bootstrap.servers": ottla_cluster.bootstrap})
            producer.produce("orders", b"one")
            assert producer.flush(10) == 0
        """
    )

    pytester.runpytest_subprocess("-q").assert_outcomes(passed=1)
