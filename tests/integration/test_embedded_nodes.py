"""Several nodes in the test's own process."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from ottla.testing import Cluster

RECORDS = 3_000


class Sender:
    """An idempotent producer that keeps what was acknowledged."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.acknowledged: list[int] = []
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 1,
                "log_level": 0,
            }
        )

    def send(self, numbers: range) -> None:
        for number in numbers:
            self._producer.produce(
                self._topic, b"%d" % number, partition=0, on_delivery=self._delivered
            )
            self._producer.poll(0)

    def wait_acknowledged(self, count: int) -> None:
        while len(self.acknowledged) < count:
            self._producer.poll(0.1)

    def finish(self) -> None:
        assert self._producer.flush(30) == 0

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        self.acknowledged.append(int(message.value() or b""))


def leader_of(bootstrap: str, topic: str) -> int:
    found = Producer({"bootstrap.servers": bootstrap}).list_topics(topic, timeout=10)
    return int(found.topics[topic].partitions[0].leader)


def read(bootstrap: str, topic: str, count: int) -> list[int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[int] = []
    while len(found) < count:
        message = consumer.poll(10)
        assert message is not None, f"{len(found)} of {count} came"
        if message.error() is None:
            found.append(int(message.value() or b""))
    consumer.close()
    return found


def test_a_leader_that_is_killed_takes_nothing_with_it() -> None:
    with Cluster(nodes=3) as cluster:
        cluster.create_topic("orders")
        sender = Sender(cluster.bootstrap, "orders")
        sender.send(range(RECORDS // 2))
        sender.wait_acknowledged(RECORDS // 4)
        leader = leader_of(cluster.bootstrap, "orders")
        cluster.kill(leader)
        sender.send(range(RECORDS // 2, RECORDS))
        sender.finish()
        cluster.restart(leader)
        assert read(cluster.bootstrap, "orders", RECORDS) == list(range(RECORDS))
        assert cluster.running == [1, 2, 3]


def test_on_disk_all_nodes_can_be_started_again(tmp_path: Path) -> None:
    with Cluster(nodes=3, data_dir=tmp_path) as cluster:
        cluster.create_topic("orders", partitions=2)
        sender = Sender(cluster.bootstrap, "orders")
        sender.send(range(100))
        sender.finish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["node-1", "node-2", "node-3"]
    with Cluster(nodes=3, data_dir=tmp_path) as cluster:
        assert read(cluster.bootstrap, "orders", 100) == list(range(100))


def test_topics_have_three_replicas() -> None:
    with Cluster(nodes=3) as cluster:
        cluster.create_topic("orders")
        found = Producer({"bootstrap.servers": cluster.bootstrap}).list_topics(timeout=10)
        assert sorted(found.topics["orders"].partitions[0].replicas) == [1, 2, 3]
        assert sorted(found.brokers) == [1, 2, 3]


def test_what_keeps_a_node_from_starting_is_raised() -> None:
    with pytest.raises(Exception, match=r"num\.partitions"):
        Cluster(nodes=3, properties={"num.partitions": "none"}).start()
