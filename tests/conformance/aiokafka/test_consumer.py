"""aiokafka's consumer and producer beyond what every client has."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import TopicPartition  # type: ignore[import-untyped]
from aiokafka.errors import (  # type: ignore[import-untyped]
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
)

from tests.conformance.aiokafka.client import AiokafkaClient, assign
from tests.conformance.clients import EARLIEST, TIMEOUT_S, Message
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

RECORDS = 5


@pytest.fixture
def client(node: RunningNode) -> AiokafkaClient:
    return AiokafkaClient(node.bootstrap)


@pytest.fixture
def topic(client: AiokafkaClient, topics: Topics) -> str:
    topic = topics.create(partitions=2)
    values = [b"%d" % number for number in range(RECORDS)]
    client.produce(
        topic, [Message(value, partition=partition) for value in values for partition in (0, 1)]
    )
    return topic


def test_a_consumer_seeks_back_and_forth(client: AiokafkaClient, topic: str) -> None:
    partition = TopicPartition(topic, 0)

    async def use() -> list[int]:
        async with client.consumer() as consumer:
            await assign(consumer, {(topic, 0): 3})
            seen = [(await consumer.getone()).offset]
            consumer.seek(partition, 1)
            seen.append((await consumer.getone()).offset)
            await consumer.seek_to_beginning(partition)
            seen.append(await consumer.position(partition))
            await consumer.seek_to_end(partition)
            seen.append(await consumer.position(partition))
            return seen

    assert asyncio.run(use()) == [3, 1, 0, RECORDS]


def test_a_paused_partition_is_silent(client: AiokafkaClient, topic: str) -> None:
    async def use() -> list[int]:
        async with client.consumer() as consumer:
            await assign(consumer, {(topic, 0): 0, (topic, 1): 0})
            consumer.pause(TopicPartition(topic, 1))
            return [(await consumer.getone()).partition for _ in range(RECORDS)]

    assert set(asyncio.run(use())) == {0}


@pytest.mark.parametrize(("reset", "first"), [("earliest", 0), ("latest", RECORDS)])
def test_an_offset_out_of_range_is_reset(
    client: AiokafkaClient, topic: str, reset: str, first: int
) -> None:
    async def use() -> int:
        async with client.consumer(auto_offset_reset=reset) as consumer:
            await assign(consumer, {(topic, 0): 1_000})
            waiting = asyncio.ensure_future(consumer.getone())
            if reset == "latest":
                # Records that come before it has looked for the end are not for it.
                while await consumer.position(TopicPartition(topic, 0)) == 1_000:
                    await asyncio.wait([waiting], timeout=0.01)
                async with client.producer() as producer:
                    await producer.send_and_wait(topic, b"new", partition=0)
            return int((await asyncio.wait_for(waiting, TIMEOUT_S)).offset)

    assert asyncio.run(use()) == first


def test_an_offset_out_of_range_is_an_error_if_configured(
    client: AiokafkaClient, topic: str
) -> None:
    async def use() -> None:
        async with client.consumer(auto_offset_reset="none") as consumer:
            await assign(consumer, {(topic, 0): 1_000})
            with pytest.raises(OffsetOutOfRangeError):
                await consumer.getone()

    asyncio.run(use())


def test_a_batch_can_be_built_by_hand(client: AiokafkaClient, topics: Topics) -> None:
    topic = topics.create()

    async def use() -> int:
        async with client.producer(compression_type="lz4", enable_idempotence=True) as producer:
            batch = producer.create_batch()
            for number in range(10):
                batch.append(key=None, value=b"%d" % number, timestamp=1_000 + number)
            sent = await producer.send_batch(batch, topic, partition=0)
            return int((await sent).offset)

    assert asyncio.run(use()) == 0
    assert [header.record_count for header in topics.stored(topic)] == [10]
    received = client.consume({(topic, 0): EARLIEST}, 10)
    assert [record.timestamp_ms for record in received] == list(range(1_000, 1_010))


def test_topics_are_created_by_produce_requests(client: AiokafkaClient, topics: Topics) -> None:
    assert client.produce(topics.name(), [Message(b"first")])[0].offset == 0


def test_topics_are_not_made_where_that_is_switched_off(strict_node: RunningNode) -> None:
    async def use() -> None:
        client = AiokafkaClient(strict_node.bootstrap)
        async with client.producer(request_timeout_ms=500) as producer:
            with pytest.raises(UnknownTopicOrPartitionError):
                await producer.send("nowhere", b"lost")

    asyncio.run(use())
