"""aiokafka's consumers in groups, alone and together with those of other clients."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]

from tests.conformance import groups
from tests.conformance.clients import TIMEOUT_S, Client, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.kafka_python.client import KafkaPythonClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

admin, node = groups.admin, groups.node

PARTITIONS = 6
RECORDS = 30


@pytest.fixture
def topic(writer: Client, topics: Topics) -> str:
    topic = topics.create(partitions=PARTITIONS)
    messages = [Message(b"%d" % n, partition=n % PARTITIONS) for n in range(RECORDS)]
    writer.produce(topic, messages)
    return topic


def member(node: RunningNode, topic: str) -> Any:
    return AIOKafkaConsumer(
        topic,
        bootstrap_servers=node.bootstrap,
        group_id=f"group-of-{topic}",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        heartbeat_interval_ms=300,
    )


async def consume(consumer: Any, count: int) -> int:
    received, deadline = 0, perf_counter() + TIMEOUT_S
    while received < count and perf_counter() < deadline:
        for records in (await consumer.getmany(timeout_ms=200)).values():
            received += len(records)
    return received


def test_a_group_goes_on_where_it_committed(node: RunningNode, topic: str) -> None:
    async def run() -> None:
        async with member(node, topic) as consumer:
            assert await consume(consumer, RECORDS) == RECORDS
            await consumer.commit()
        async with member(node, topic) as consumer:
            committed = await consumer.committed(TopicPartition(topic, 0))
            assert committed == RECORDS // PARTITIONS
            assert await consumer.position(TopicPartition(topic, 0)) == committed

    asyncio.run(run())


def test_three_kinds_of_clients_are_in_one_group(node: RunningNode, topic: str) -> None:
    group = {"group_id": f"group-of-{topic}", "auto_offset_reset": "earliest"}
    librdkafka = ConfluentClient(node.bootstrap).consumer(
        **group, heartbeat_interval_ms=300, partition_assignment_strategy="range,roundrobin"
    )

    async def run() -> set[tuple[str, int]]:
        kafka_python = KafkaPythonClient(node.bootstrap)
        configs = {**group, "heartbeat_interval_ms": 300, "enable_auto_commit": False}
        with kafka_python.consumer(**configs) as other:
            # It is the first one, for it does not return before it has joined.
            async with member(node, topic) as mine:
                librdkafka.subscribe([topic])
                # If it leads the group, it assigns only the partitions that it knows.
                assert other.partitions_for_topic(topic)
                other.subscribe([topic])
                consumers = (librdkafka, other, mine)
                await groups.poll_until(
                    lambda: all(len(each.assignment()) == 2 for each in consumers), *consumers
                )
                return {
                    (each.topic, each.partition)
                    for consumer in consumers
                    for each in consumer.assignment()
                }

    owned = asyncio.run(run())
    librdkafka.close()
    assert owned == {(topic, number) for number in range(PARTITIONS)}
