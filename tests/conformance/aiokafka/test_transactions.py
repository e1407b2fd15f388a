"""aiokafka's transactional producer, which speaks the first version of everything."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiokafka import (  # type: ignore[import-untyped]
    AIOKafkaConsumer,
    AIOKafkaProducer,
    TopicPartition,
)
from aiokafka.errors import KafkaError, ProducerFenced  # type: ignore[import-untyped]

from tests.conformance import transactions
from tests.conformance.topics import Topics
from tests.conformance.transactions import values
from tests.support.nodes.nodes import RunningNode

admin, node = transactions.admin, transactions.node


@pytest.fixture
def topic(topics: Topics) -> str:
    return topics.create(partitions=2)


def transactional(node: RunningNode, name: str) -> Any:
    return AIOKafkaProducer(bootstrap_servers=node.bootstrap, transactional_id=name)


async def write(producer: Any, topic: str, value: str) -> None:
    for partition in range(2):
        await producer.send_and_wait(topic, value.encode(), partition=partition)


def test_committed_is_read_and_aborted_is_not(node: RunningNode, topic: str) -> None:
    async def run() -> None:
        async with transactional(node, topic) as producer:
            for number in range(4):
                await producer.begin_transaction()
                await write(producer, topic, str(number))
                if number % 2:
                    await producer.abort_transaction()
                else:
                    await producer.commit_transaction()

    asyncio.run(run())
    assert values(node.bootstrap, topic, partitions=2) == ["0", "0", "2", "2"]


def test_second_producer_fences_the_first(node: RunningNode, topic: str) -> None:
    async def run() -> None:
        async with transactional(node, topic) as zombie:
            await zombie.begin_transaction()
            await write(zombie, topic, "zombie's")
            async with transactional(node, topic) as producer, producer.transaction():
                await write(producer, topic, "successor's")
            with pytest.raises((ProducerFenced, KafkaError)):
                await zombie.commit_transaction()

    asyncio.run(run())
    assert values(node.bootstrap, topic, partitions=2) == ["successor's"] * 2


@pytest.mark.parametrize("commits", [True, False])
def test_offsets_are_part_of_the_transaction(
    node: RunningNode, topic: str, *, commits: bool
) -> None:
    name, group = TopicPartition(topic, 0), f"group-of-{topic}"

    async def run() -> int | None:
        async with transactional(node, topic) as producer:
            await producer.begin_transaction()
            await write(producer, topic, "record")
            await producer.send_offsets_to_transaction({name: 7}, group)
            if commits:
                await producer.commit_transaction()
            else:
                await producer.abort_transaction()
        async with AIOKafkaConsumer(
            bootstrap_servers=node.bootstrap, group_id=group, enable_auto_commit=False
        ) as consumer:
            offset: int | None = await consumer.committed(name)
            return offset

    assert asyncio.run(run()) == (7 if commits else None)
