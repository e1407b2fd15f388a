"""librdkafka's producer beyond what every client has."""

from __future__ import annotations

from functools import partial

import pytest
from confluent_kafka import KafkaError

from tests.conformance.clients import EARLIEST, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.test_producing import MURMUR2, PARTITIONS, PARTITIONS_OF_KAFKA
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode


@pytest.fixture
def client(node: RunningNode) -> ConfluentClient:
    return ConfluentClient(node.bootstrap)


def test_its_murmur2_partitioner_agrees_with_kafkas(
    client: ConfluentClient, topics: Topics
) -> None:
    topic = topics.create(PARTITIONS)
    positions = client.produce(
        topic, [Message(b"", key) for key in MURMUR2], partitioner="murmur2_random"
    )
    found = {key: position.partition for key, position in zip(MURMUR2, positions, strict=True)}
    assert found == PARTITIONS_OF_KAFKA


def test_many_requests_in_flight_keep_their_order(client: ConfluentClient, topics: Topics) -> None:
    topic = topics.create()
    messages = [Message(b"%d" % number) for number in range(2_000)]
    client.produce(
        topic, messages, is_idempotent=True, batch_num_messages=10, max_in_flight=5, linger_ms=0
    )
    assert len(topics.stored(topic)) >= len(messages) // 10

    received = client.consume({(topic, 0): EARLIEST}, len(messages))

    assert [record.value for record in received] == [message.value for message in messages]


def test_several_topics_share_a_request(client: ConfluentClient, topics: Topics) -> None:
    names = [topics.create(partitions=2) for _ in range(3)]
    producer = client.producer(linger_ms=50)
    for name in names:
        for partition in (0, 1):
            producer.produce(name, b"both", partition=partition)
    assert producer.flush(10) == 0

    everywhere = {(name, partition): EARLIEST for name in names for partition in (0, 1)}
    assert {record.value for record in client.consume(everywhere, 6)} == {b"both"}


def test_records_that_spoil_a_batch_are_distinguished_from_the_others_in_it(
    client: ConfluentClient, topics: Topics
) -> None:
    topic = topics.create(cleanup_policy="compact")
    reported: set[tuple[str, int | None]] = set()

    def report(expected: str, error: KafkaError | None, _message: object) -> None:
        reported.add((expected, None if error is None else error.code()))

    producer = client.producer(linger_ms=200)
    for number in range(10):
        key = None if number % 3 == 0 else b"key"
        expected = "keyless" if key is None else "keyed"
        producer.produce(
            topic,
            b"value",
            key,
            partition=0,
            on_delivery=partial(report, expected),
        )
    assert producer.flush(30) == 0

    assert reported == {
        ("keyless", KafkaError.INVALID_RECORD),
        ("keyed", KafkaError._INVALID_DIFFERENT_RECORD),
    }
    assert topics.stored(topic) == []


@pytest.mark.parametrize("codec", ["none", "gzip", "lz4", "zstd"])
def test_large_batches_of_a_compacted_topic_keep_their_order(
    client: ConfluentClient, topics: Topics, codec: str
) -> None:
    topic = topics.create(cleanup_policy="compact", max_message_bytes="10000000")
    messages = [Message(b"%d" % number, b"key-%d" % number) for number in range(12_000)]
    client.produce(
        topic,
        messages,
        codec=codec,
        is_idempotent=True,
        batch_num_messages=4_000,
        max_in_flight=5,
        linger_ms=20,
    )

    received = client.consume({(topic, 0): EARLIEST}, len(messages))

    assert [record.value for record in received] == [message.value for message in messages]


def test_large_batches_of_a_transaction_keep_their_order(
    client: ConfluentClient, topics: Topics
) -> None:
    topic = topics.create(cleanup_policy="compact")
    producer = client.producer(
        transactional_id=topic, batch_num_messages=4_000, compression_codec="lz4", linger_ms=20
    )
    producer.init_transactions(30)
    for first in (0, 6_000):
        producer.begin_transaction()
        for number in range(first, first + 6_000):
            producer.produce(topic, b"%d" % number, b"key-%d" % number, partition=0)
        producer.commit_transaction(30)

    received = client.consume({(topic, 0): EARLIEST}, 12_000, read_committed=True)

    assert [record.value for record in received] == [b"%d" % number for number in range(12_000)]
