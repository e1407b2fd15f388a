"""Consume, transform, produce: librdkafka's transactions and Apache Kafka's own copier on three
nodes, where the leaders ask another node about the transaction.

librdkafka adds partitions itself (TransactionV1), the Java client leaves that to the leaders
(TransactionV2).
"""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from ottla.testing.cluster import Cluster
from tests.conformance.kafka.process import CLASSPATH, JAVA_OPTIONS, reason_unavailable
from tests.support.nodes.stable_topics import wait_stable

PARTITIONS = 3
RECORDS = 300
WAIT_SECONDS = 30.0


def topics(cluster: Cluster, name: str) -> tuple[str, str]:
    """A topic that is filled, and one that is empty."""
    source, target = f"{name}-source", f"{name}-target"
    for topic in (source, target):
        cluster.create_topic(topic, partitions=PARTITIONS)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "enable.idempotence": True})
    for number in range(RECORDS):
        producer.produce(source, str(number), partition=number % PARTITIONS)
    assert producer.flush(WAIT_SECONDS) == 0
    return source, target


def transactional(cluster: Cluster, transactional_id: str) -> Producer:
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "transactional.id": transactional_id}
    )
    producer.init_transactions(WAIT_SECONDS)
    return producer


def consumer(cluster: Cluster, group: str, **configs: Any) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            # What is sought comes after the fetch that is under way.
            "fetch.wait.max.ms": 20,
            **configs,
        }
    )


def read(cluster: Cluster, topic: str, *, isolation: str = "read_committed") -> list[int]:
    """All that there is to read, in order of the numbers."""
    wait_stable(cluster.bootstrap, topic, partitions=PARTITIONS)
    reader = consumer(
        cluster, "reader", **{"isolation.level": isolation, "enable.partition.eof": True}
    )
    found: list[int] = []
    ended = 0
    try:
        reader.assign([TopicPartition(topic, index, 0) for index in range(PARTITIONS)])
        while ended < PARTITIONS:
            for record in reader.consume(RECORDS, 1.0):
                error, value = record.error(), record.value()
                if error is None:
                    assert value is not None
                    found.append(int(value))
                else:
                    assert error.code() == KafkaError._PARTITION_EOF
                    ended += 1
    finally:
        reader.close()
    return sorted(found)


def error_of(exception: pytest.ExceptionInfo[KafkaException]) -> KafkaError:
    error = exception.value.args[0]
    assert isinstance(error, KafkaError)
    return error


def test_each_record_is_transformed_once_though_every_third_transaction_is_aborted(
    cluster: Cluster,
) -> None:
    source, target = topics(cluster, "transform")
    producer = transactional(cluster, "transformer")
    reading = consumer(cluster, "transformers")
    reading.subscribe([source])
    transactions = done = 0
    while done < RECORDS:
        records = reading.consume(20, 0.2)
        if not records:
            continue
        assert all(record.error() is None for record in records)
        transactions += 1
        producer.begin_transaction()
        for record in records:
            producer.produce(target, record.value(), partition=place(record).partition)
        positions = reading.position(reading.assignment())
        producer.send_offsets_to_transaction(positions, reading.consumer_group_metadata())
        if transactions % 3 == 0:
            producer.flush(WAIT_SECONDS)
            producer.abort_transaction(WAIT_SECONDS)
            rewind(reading)
        else:
            producer.commit_transaction(WAIT_SECONDS)
            done += len(records)
    reading.close()

    assert read(cluster, target) == list(range(RECORDS))
    assert len(read(cluster, target, isolation="read_uncommitted")) > RECORDS


def place(record: Message) -> TopicPartition:
    topic, partition = record.topic(), record.partition()
    assert topic is not None
    assert partition is not None
    return TopicPartition(topic, partition)


def rewind(reading: Consumer) -> None:
    for each in reading.committed(reading.assignment(), timeout=WAIT_SECONDS):
        reading.seek(TopicPartition(each.topic, each.partition, max(each.offset, 0)))


def test_a_zombie_is_fenced_and_leaves_nothing(cluster: Cluster) -> None:
    _, target = topics(cluster, "zombie")
    zombie = transactional(cluster, "zombie")
    zombie.begin_transaction()
    zombie.produce(target, "1", partition=0)
    zombie.flush(WAIT_SECONDS)

    successor = transactional(cluster, "zombie")
    successor.begin_transaction()
    successor.produce(target, "2", partition=0)
    successor.commit_transaction(WAIT_SECONDS)

    zombie.produce(target, "3", partition=0)
    with pytest.raises(KafkaException) as refusal:
        zombie.commit_transaction(WAIT_SECONDS)
    assert error_of(refusal).fatal() or error_of(refusal).txn_requires_abort()
    assert read(cluster, target) == [2]


def test_offsets_within_a_transaction_are_unstable_until_it_ends(cluster: Cluster) -> None:
    source, _ = topics(cluster, "unstable")
    producer = transactional(cluster, "unstable")
    member = consumer(cluster, "unstable")
    producer.begin_transaction()
    producer.send_offsets_to_transaction(
        [TopicPartition(source, 0, 7)], member.consumer_group_metadata()
    )

    requested = [TopicPartition(source, 0)]
    hasty = consumer(cluster, "unstable", **{"isolation.level": "read_uncommitted"})
    assert hasty.committed(requested, timeout=WAIT_SECONDS)[0].offset < 0
    with pytest.raises(KafkaException):
        member.committed(requested, timeout=1)

    producer.commit_transaction(WAIT_SECONDS)
    assert member.committed(requested, timeout=WAIT_SECONDS)[0].offset == 7
    for each in (hasty, member):
        each.close()


def test_a_member_of_an_older_generation_cannot_commit(cluster: Cluster) -> None:
    source, _ = topics(cluster, "generations")
    producer = transactional(cluster, "generations")
    first = consumer(cluster, "generations")
    first.subscribe([source])
    while not first.consume(1, 0.5):
        pass
    stale = first.consumer_group_metadata()
    first.close()

    producer.begin_transaction()
    with pytest.raises(KafkaException) as refusal:
        producer.send_offsets_to_transaction([TopicPartition(source, 0, 7)], stale, WAIT_SECONDS)
    assert error_of(refusal).txn_requires_abort()
    producer.abort_transaction(WAIT_SECONDS)


@pytest.mark.java
@pytest.mark.skipif(bool(reason_unavailable()), reason="needs Apache Kafka's jars")
def test_kafkas_own_copier_copies_each_record_once(cluster: Cluster) -> None:
    source, target = topics(cluster, "java")
    copier = subprocess.run(
        [
            "java",
            *JAVA_OPTIONS,
            *("-cp", CLASSPATH, "org.apache.kafka.tools.TransactionalMessageCopier"),
            *("--broker-list", cluster.bootstrap),
            *("--input-topic", source, "--input-partition", "-1", "--output-topic", target),
            *("--max-messages", str(RECORDS), "--transaction-size", "20"),
            *("--transactional-id", "java-copier", "--consumer-group", "java-copiers"),
            *("--group-mode", "--use-group-metadata", "--enable-random-aborts"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert copier.returncode == 0, copier.stderr
    assert '"remaining":0' in copier.stdout
    assert read(cluster, target) == list(range(RECORDS))
