"""librdkafka's transactional producer."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.conformance import transactions
from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.topics import Topics
from tests.conformance.transactions import values
from tests.support.nodes.nodes import RunningNode

admin, node = transactions.admin, transactions.node

PARTITIONS = 3


@pytest.fixture
def client(node: RunningNode) -> ConfluentClient:
    return ConfluentClient(node.bootstrap)


@pytest.fixture
def topic(topics: Topics) -> str:
    return topics.create(partitions=PARTITIONS)


def transactional(client: ConfluentClient, name: str, **configs: Any) -> Producer:
    producer = client.producer(transactional_id=name, **configs)
    producer.init_transactions(TIMEOUT_S)
    return producer


def write(producer: Producer, topic: str, *written: str) -> None:
    """Begins a transaction and waits until the node has the records of it."""
    producer.begin_transaction()
    for number, value in enumerate(written):
        producer.produce(topic, value, partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0


def test_committed_is_read_and_aborted_is_not(
    client: ConfluentClient, node: RunningNode, topic: str
) -> None:
    producer = transactional(client, topic)
    for number in range(6):
        write(producer, topic, *(f"{number}{letter}" for letter in "abcd"))
        if number % 2:
            producer.abort_transaction(TIMEOUT_S)
        else:
            producer.commit_transaction(TIMEOUT_S)
    committed = [f"{number}{letter}" for number in (0, 2, 4) for letter in "abcd"]
    everything = [f"{number}{letter}" for number in range(6) for letter in "abcd"]
    assert values(node.bootstrap, topic, partitions=PARTITIONS) == committed
    found = values(node.bootstrap, topic, partitions=PARTITIONS, read_committed=False)
    assert found == everything


def test_open_transaction_is_not_read_and_holds_up_what_follows(
    client: ConfluentClient, node: RunningNode, topic: str
) -> None:
    producer = transactional(client, topic)
    write(producer, topic, "open")
    client.produce(topic, [Message(b"after", partition=0)])
    assert values(node.bootstrap, topic, partitions=PARTITIONS) == []
    producer.commit_transaction(TIMEOUT_S)
    assert values(node.bootstrap, topic, partitions=PARTITIONS) == ["after", "open"]


def test_transaction_without_records_ends_both_ways(client: ConfluentClient, topic: str) -> None:
    producer = transactional(client, topic)
    for _ in range(2):
        producer.begin_transaction()
        producer.commit_transaction(TIMEOUT_S)
        producer.begin_transaction()
        producer.abort_transaction(TIMEOUT_S)


def test_second_producer_fences_the_first(
    client: ConfluentClient, node: RunningNode, topic: str
) -> None:
    zombie = transactional(client, topic)
    write(zombie, topic, "zombie's")
    producer = transactional(client, topic)
    write(producer, topic, "successor's")
    producer.commit_transaction(TIMEOUT_S)
    with pytest.raises(KafkaException) as caught:
        zombie.commit_transaction(TIMEOUT_S)
    error = caught.value.args[0]
    assert error.code() == KafkaError._FENCED or error.txn_requires_abort() or error.fatal()
    assert values(node.bootstrap, topic, partitions=PARTITIONS) == ["successor's"]


def test_transaction_that_takes_too_long_is_aborted(
    client: ConfluentClient, node: RunningNode, topic: str
) -> None:
    producer = transactional(client, topic, transaction_timeout_ms=1_000, message_timeout_ms=1_000)
    write(producer, topic, "too late")
    # Its marker is the end of the topic for a consumer that waits for it.
    consumer = client.consumer(isolation_level="read_committed", enable_partition_eof=True)
    consumer.assign([TopicPartition(topic, 0, 0)])
    while (message := consumer.poll(TIMEOUT_S)) is None or message.error() is None:
        assert message is None
    while consumer.position([TopicPartition(topic, 0)])[0].offset < 2:
        consumer.poll(0.1)
    consumer.close()
    with pytest.raises(KafkaException):
        producer.commit_transaction(TIMEOUT_S)
    assert values(node.bootstrap, topic, partitions=PARTITIONS) == []


def test_producer_goes_on_after_an_aborted_transaction_with_undelivered_records(
    client: ConfluentClient, node: RunningNode, topic: str
) -> None:
    producer = transactional(client, topic)
    for number in range(3):
        producer.begin_transaction()
        for _ in range(100):
            producer.produce(topic, "aborted", partition=0)
        producer.abort_transaction(TIMEOUT_S)
        write(producer, topic, f"committed {number}")
        producer.commit_transaction(TIMEOUT_S)
    expected = [f"committed {number}" for number in range(3)]
    assert values(node.bootstrap, topic, partitions=PARTITIONS) == expected


class TestCopying:
    """Records from one topic to another, offsets in the same transaction."""

    @pytest.fixture
    def copies(self, topics: Topics) -> str:
        return topics.create()

    @pytest.fixture
    def consumer(self, client: ConfluentClient, topic: str) -> Consumer:
        client.produce(topic, [Message(b"%d" % number, partition=0) for number in range(10)])
        consumer = client.consumer(
            group_id=topic, auto_offset_reset="earliest", isolation_level="read_committed"
        )
        consumer.subscribe([topic])
        return consumer

    def copy(self, consumer: Consumer, producer: Producer, copies: str) -> None:
        producer.begin_transaction()
        received = consumer.consume(5, TIMEOUT_S)
        assert len(received) == 5
        for message in received:
            producer.produce(copies, message.value())
        assigned = consumer.assignment()
        producer.send_offsets_to_transaction(
            consumer.position(assigned), consumer.consumer_group_metadata(), TIMEOUT_S
        )

    def committed(self, consumer: Consumer, topic: str) -> int:
        return int(consumer.committed([TopicPartition(topic, 0)], TIMEOUT_S)[0].offset)

    def test_offsets_are_committed_with_the_records(
        self,
        client: ConfluentClient,
        node: RunningNode,
        consumer: Consumer,
        topic: str,
        copies: str,
    ) -> None:
        producer = transactional(client, copies)
        self.copy(consumer, producer, copies)
        producer.commit_transaction(TIMEOUT_S)
        self.copy(consumer, producer, copies)
        producer.commit_transaction(TIMEOUT_S)
        assert self.committed(consumer, topic) == 10
        consumer.close()
        assert values(node.bootstrap, copies) == [str(number) for number in range(10)]

    def test_offsets_are_aborted_with_the_records(
        self,
        client: ConfluentClient,
        node: RunningNode,
        consumer: Consumer,
        topic: str,
        copies: str,
    ) -> None:
        producer = transactional(client, copies)
        self.copy(consumer, producer, copies)
        producer.commit_transaction(TIMEOUT_S)
        self.copy(consumer, producer, copies)
        producer.abort_transaction(TIMEOUT_S)
        assert self.committed(consumer, topic) == 5
        consumer.close()
        assert values(node.bootstrap, copies) == [str(number) for number in range(5)]
