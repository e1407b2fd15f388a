"""kafka-python's consumer and producer beyond what every client has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.kafka_python.client import (
    KafkaPythonClient,
    TopicPartition,
    assign,
    errors,
)
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

RECORDS = 5


@pytest.fixture
def client(node: RunningNode) -> KafkaPythonClient:
    return KafkaPythonClient(node.bootstrap)


@pytest.fixture
def topic(client: KafkaPythonClient, topics: Topics) -> str:
    topic = topics.create(partitions=2)
    values = [b"%d" % number for number in range(RECORDS)]
    client.produce(
        topic, [Message(value, partition=partition) for value in values for partition in (0, 1)]
    )
    return topic


@pytest.fixture
def consumer(client: KafkaPythonClient, topic: str) -> Iterator[Any]:
    with client.consumer(fetch_max_wait_ms=50) as consumer:
        yield consumer


def test_a_consumer_seeks_back_and_forth(consumer: Any, topic: str) -> None:
    partition = TopicPartition(topic, 0)
    assign(consumer, {(topic, 0): 3})
    assert next(consumer).offset == 3
    consumer.seek(partition, 1)
    assert next(consumer).offset == 1
    consumer.seek_to_beginning(partition)
    assert consumer.position(partition) == 0
    consumer.seek_to_end(partition)
    assert consumer.position(partition) == RECORDS
    assert consumer.partitions_for_topic(topic) == {0, 1}


def test_a_paused_partition_is_silent(consumer: Any, topic: str) -> None:
    assign(consumer, {(topic, 0): 0, (topic, 1): 0})
    consumer.pause(TopicPartition(topic, 1))
    assert {next(consumer).partition for _ in range(RECORDS)} == {0}
    consumer.resume(TopicPartition(topic, 1))
    assert {next(consumer).partition for _ in range(RECORDS)} == {1}
    assert consumer.highwater(TopicPartition(topic, 1)) == RECORDS


def test_a_session_of_fetches_goes_on_as_partitions_change(
    consumer: Any, client: KafkaPythonClient, topic: str
) -> None:
    assign(consumer, {(topic, 0): 0})
    assert [next(consumer).offset for _ in range(RECORDS)] == list(range(RECORDS))
    assign(consumer, {(topic, 1): 2})
    assert [next(consumer).offset for _ in range(RECORDS - 2)] == list(range(2, RECORDS))
    client.produce(topic, [Message(b"new", partition=1), Message(b"unseen", partition=0)])
    new = next(consumer)
    assert (new.partition, new.value) == (1, b"new")


@pytest.mark.parametrize(("reset", "first"), [("earliest", 0), ("latest", RECORDS)])
def test_an_offset_out_of_range_is_reset(
    client: KafkaPythonClient, topic: str, reset: str, first: int
) -> None:
    partition = TopicPartition(topic, 0)
    with client.consumer(auto_offset_reset=reset) as consumer:
        assign(consumer, {(topic, 0): 1_000})
        records = consumer.poll(500)
        position = records[partition][0].offset if records else consumer.position(partition)
    assert position == first


def test_an_offset_out_of_range_is_an_error_if_configured(
    client: KafkaPythonClient, topic: str
) -> None:
    with client.consumer(auto_offset_reset="none") as consumer:
        assign(consumer, {(topic, 0): 1_000})
        with pytest.raises(errors.OffsetOutOfRangeError):
            consumer.poll(TIMEOUT_S * 1_000)


def test_without_sessions_each_fetch_stands_alone(client: KafkaPythonClient, topic: str) -> None:
    with client.consumer(enable_incremental_fetch_sessions=False) as consumer:
        assign(consumer, {(topic, 0): 0, (topic, 1): 0})
        records = [next(consumer) for _ in range(2 * RECORDS)]
    assert sorted((each.partition, each.offset) for each in records) == [
        (partition, offset) for partition in (0, 1) for offset in range(RECORDS)
    ]


def test_topics_are_created_by_produce_requests(client: KafkaPythonClient, topics: Topics) -> None:
    assert client.produce(topics.name(), [Message(b"first")])[0].offset == 0


def test_topics_are_not_made_where_that_is_switched_off(strict_node: RunningNode) -> None:
    with (
        KafkaPythonClient(strict_node.bootstrap).producer(max_block_ms=300) as producer,
        pytest.raises(errors.KafkaTimeoutError),
    ):
        producer.send("nowhere", b"lost")


@pytest.mark.parametrize("version", [(0, 11), (1, 1), (2, 1), (2, 8), (3, 5)])
def test_the_requests_of_older_brokers_are_understood(
    node: RunningNode, topics: Topics, version: tuple[int, int]
) -> None:
    topic = topics.create()
    client = KafkaPythonClient(node.bootstrap)
    with client.producer(api_version=version, enable_idempotence=False) as producer:
        producer.send(topic, b"old", b"key").get(TIMEOUT_S)
    with client.consumer(api_version=version) as consumer:
        assign(consumer, {(topic, 0): 0})
        record = next(consumer)
    assert (record.key, record.value) == (b"key", b"old")


def test_small_fetches_serve_every_partition(client: KafkaPythonClient, topics: Topics) -> None:
    partitions, rounds = 10, 3
    topic = topics.create(partitions)
    for _ in range(rounds):
        client.produce(topic, [Message(bytes(2_000), partition=each) for each in range(partitions)])
    with client.consumer(fetch_max_bytes=1_000, max_partition_fetch_bytes=500) as consumer:
        assign(consumer, {(topic, partition): 0 for partition in range(partitions)})
        records = [next(consumer) for _ in range(partitions * rounds)]
    # Partitions that returned records go last, so a busy partition does not starve others.
    half = records[: len(records) // 2]
    assert {record.partition for record in half} == set(range(partitions))
