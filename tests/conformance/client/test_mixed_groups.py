"""Consumers of ottla.client in one group with those of other clients."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter

import pytest
from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]

from tests.conformance.client.conftest import BrokerUnderTest
from tests.conformance.client.consumers import consumer, run
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.kafka_python.client import KafkaPythonClient

PARTITIONS = 8
RECORDS = 80


async def until(condition: Callable[[], bool], *polls: Callable[[], Awaitable[object]]) -> None:
    """Each polls in its own time, because some wait for the others to join again."""
    is_over = False

    async def keep(poll: Callable[[], Awaitable[object]]) -> None:
        while not is_over:
            await poll()

    async def watch() -> None:
        nonlocal is_over
        deadline = perf_counter() + 2 * TIMEOUT_S
        while not is_over:
            is_over = await asyncio.to_thread(condition)
            assert perf_counter() < deadline

    await asyncio.gather(watch(), *(keep(poll) for poll in polls))


@pytest.mark.parametrize("is_first", [True, False], ids=["leading", "following"])
def test_four_kinds_of_clients_share_a_classic_group(
    broker: BrokerUnderTest, name: str, is_first: bool
) -> None:
    """The first member leads: it assigns the partitions of all, from what they say in bytes."""
    topic = broker.create_topic(name, PARTITIONS)
    broker.fill(topic, RECORDS, partitions=PARTITIONS)
    group = {"group_id": name, "auto_offset_reset": "earliest"}
    values: list[bytes | None] = []
    librdkafka = ConfluentClient(broker.bootstrap).consumer(
        **group, heartbeat_interval_ms=300, partition_assignment_strategy="range,roundrobin"
    )
    kafka_python = KafkaPythonClient(broker.bootstrap)
    configs = {**group, "heartbeat_interval_ms": 300, "enable_auto_commit": False}
    aiokafka = dict(bootstrap_servers=broker.bootstrap, **configs)

    async def scenario() -> None:
        mine = consumer(
            broker.bootstrap, group_id=name, partition_assignment_strategy="range,roundrobin"
        )

        async def read() -> None:
            values.extend(each.value for each in await mine.poll(0.1))

        async def read_aiokafka() -> None:
            for records in (await second.getmany(timeout_ms=100)).values():
                values.extend(record.value for record in records)

        async def read_kafka_python() -> None:
            for records in (await asyncio.to_thread(other.poll, 100)).values():
                values.extend(record.value for record in records)

        async def read_librdkafka() -> None:
            message = await asyncio.to_thread(librdkafka.poll, 0.1)
            if message is not None:
                values.append(message.value())

        def is_shared() -> bool:
            found = [len(mine.assignment()), len(librdkafka.assignment())]
            found += [len(second.assignment()), len(other.assignment())]
            return found == [2, 2, 2, 2]

        with kafka_python.consumer(**configs) as other:
            await mine.subscribe([topic])
            if is_first:
                await until(lambda: len(mine.assignment()) == PARTITIONS, read)
            assert other.partitions_for_topic(topic)
            other.subscribe([topic])
            librdkafka.subscribe([topic])
            second = AIOKafkaConsumer(topic, **aiokafka)
            others = (read_kafka_python, read_librdkafka)
            # It returns only when it has joined, for which the others have to join again.
            starting = asyncio.ensure_future(second.start())
            await until(starting.done, *others, *((read,) if is_first else ()))
            try:
                await until(is_shared, read, read_aiokafka, *others)
                broker.fill(topic, RECORDS, partitions=PARTITIONS)
                await until(lambda: len(values) >= 2 * RECORDS, read, read_aiokafka, *others)
            finally:
                await mine.close()
                await second.stop()
                librdkafka.close()

    run(scenario())
    assert set(values) == {b"%d" % number for number in range(RECORDS)}


def test_librdkafka_shares_a_group_of_the_consumer_protocol(
    broker: BrokerUnderTest, name: str
) -> None:
    topic = broker.create_topic(name, PARTITIONS)
    librdkafka = ConfluentClient(broker.bootstrap).consumer(
        group_id=name, group_protocol="consumer", auto_offset_reset="earliest"
    )

    async def scenario() -> None:
        async with consumer(broker.bootstrap, group_id=name, group_protocol="consumer") as mine:
            await mine.subscribe([topic])
            librdkafka.subscribe([topic])
            await until(
                lambda: [len(mine.assignment()), len(librdkafka.assignment())] == [4, 4],
                lambda: mine.poll(0.1),
                lambda: asyncio.to_thread(librdkafka.poll, 0.1),
            )
            await asyncio.to_thread(librdkafka.close)
            await until(lambda: len(mine.assignment()) == PARTITIONS, lambda: mine.poll(0.1))

    run(scenario())
