"""Consumers when brokers die, come back, and move."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator

import pytest
from confluent_kafka import Message as KafkaMessage
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from benchmarks.versus.servers import KafkaServer, OttlaServer, Server, fresh
from ottla.client import ConsumedRecord, Consumer, TopicPartition
from ottla.runtime.network import Address
from ottla.testing import Cluster
from tests.conformance.client.consumers import (
    PROTOCOLS,
    consumer,
    numbers,
    poll_until,
    read,
    run,
    wait_until,
)
from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.kafka.process import reason_unavailable
from tests.support.soak import IS_SOAK

PARTITIONS = 4
SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.initial.rebalance.delay.ms": "0",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=3, properties=SETTINGS) as cluster:
        yield cluster


def leader(cluster: Cluster, topic: str) -> int:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    return int(admin.list_topics(topic, TIMEOUT_S).topics[topic].partitions[0].leader)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_members_keep_their_partitions_when_the_coordinator_dies(
    cluster: Cluster, protocol: str
) -> None:
    topic = f"coordinator-{protocol}"
    cluster.create_topic(topic, partitions=PARTITIONS)
    changes: list[object] = []

    def shares(*readers: Consumer) -> bool:
        return all(len(reader.assignment()) == PARTITIONS // 2 for reader in readers)

    async def scenario() -> None:
        settings = {"group_id": topic, "group_protocol": protocol, "enable_auto_commit": False}
        async with (
            consumer(cluster.bootstrap, **settings) as first,
            consumer(cluster.bootstrap, **settings) as second,
        ):
            for reader in (first, second):
                await reader.subscribe([topic], on_revoked=changes.append, on_lost=changes.append)
            await poll_until(lambda: shares(first, second), first, second)
            await first.commit(dict.fromkeys(first.assignment(), 1))
            changes.clear()
            admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
            described = admin.describe_consumer_groups([topic])[topic]
            coordinator = (await asyncio.to_thread(described.result)).coordinator.id

            await asyncio.to_thread(cluster.kill, coordinator)
            names = [TopicPartition(topic, number) for number in range(PARTITIONS)]
            committed = await second.committed(names)
            assert {each: at and at.offset for each, at in committed.items()} == {
                each: 1 if each in first.assignment() else None for each in names
            }
            for reader in (first, second):
                await reader.commit(dict.fromkeys(reader.assignment(), 2))
            await poll_until(lambda: shares(first, second), first, second)
            assert changes == []
            await asyncio.to_thread(cluster.restart, coordinator)

    run(scenario())


def test_records_are_read_once_and_in_order_while_leaders_die(cluster: Cluster) -> None:
    topic = "leaders"
    cluster.create_topic(topic, partitions=PARTITIONS)
    acknowledged: set[int] = set()
    seen: dict[int, list[int]] = defaultdict(list)
    is_over = False
    producing: asyncio.Future[None]

    def delivered(error: object, message: KafkaMessage) -> None:
        if error is None:
            acknowledged.add(int(message.value() or b""))

    async def produce() -> None:
        producer = Producer(
            {"bootstrap.servers": cluster.bootstrap, "enable.idempotence": True, "log_level": 0}
        )
        sent = 0
        while not is_over:
            for _ in range(20):
                producer.produce(
                    topic, b"%d" % sent, partition=sent % PARTITIONS, on_delivery=delivered
                )
                sent += 1
            await asyncio.to_thread(producer.poll, 0.02)
        await asyncio.to_thread(producer.flush)

    async def read_all(reader: Consumer) -> None:
        while not producing.done() or sum(map(len, seen.values())) < len(acknowledged):
            for record in await reader.poll(0.2):
                seen[record.partition].append(int(record.value or b""))

    async def scenario() -> None:
        nonlocal is_over, producing
        producing = asyncio.ensure_future(produce())
        async with consumer(cluster.bootstrap) as reader:
            reader.assign([TopicPartition(topic, index) for index in range(PARTITIONS)])
            reading = asyncio.ensure_future(read_all(reader))
            for _ in range(2):
                await more(seen)
                first = await asyncio.to_thread(leader, cluster, topic)
                await asyncio.to_thread(cluster.kill, first)
                await more(seen)
                await asyncio.to_thread(cluster.restart, first)
            await more(seen)
            is_over = True
            await asyncio.gather(producing, reading)

    async def more(seen: dict[int, list[int]]) -> None:
        """From every partition."""
        counts = {index: len(seen[index]) for index in range(PARTITIONS)}
        await wait_until(
            lambda: all(len(seen[index]) > count + 20 for index, count in counts.items())
        )

    run(scenario())
    for values in seen.values():
        assert values == sorted(set(values)), "read once and in order"
    assert acknowledged <= {number for values in seen.values() for number in values}


def test_brokers_that_come_back_at_other_addresses_are_found(cluster: Cluster) -> None:
    """One after the other, until none is where the consumer first found it."""
    topic = "moving"
    cluster.create_topic(topic)
    only = TopicPartition(topic, 0)
    before = cluster.bootstrap

    async def scenario() -> None:
        async with consumer(before, group_id=topic, metadata_max_age_ms=1_000) as reader:
            reader.assign([only])
            for turn, node_id in enumerate(cluster.running):
                await asyncio.to_thread(produce, turn)
                assert [each.offset for each in await read(reader, 1)] == [turn]
                await reader.commit()
                await asyncio.to_thread(move, node_id)
            assert not set(before.split(",")) & set(cluster.bootstrap.split(","))
            await asyncio.to_thread(produce, 3)
            assert [each.offset for each in await read(reader, 1)] == [3]
            await reader.commit()

    def produce(number: int) -> None:
        ConfluentClient(cluster.bootstrap).produce(topic, [Message(b"%d" % number)])

    def move(node_id: int) -> None:
        cluster._addresses[node_id] = Address("127.0.0.1", 0)
        cluster.restart(node_id)

    run(scenario())


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "kind", [OttlaServer, pytest.param(KafkaServer, marks=pytest.mark.java)], ids=["ottla", "kafka"]
)
def test_a_group_goes_on_after_a_restart_of_the_only_broker(
    kind: type[Server], protocol: str
) -> None:
    if kind is KafkaServer:
        if reason := reason_unavailable():
            pytest.skip(reason)
        if not IS_SOAK:
            pytest.skip("starts Apache Kafka twice, ten seconds each: OTTLA_SOAK=1 runs it")
    with fresh(kind, SETTINGS) as server:
        server.start()
        client = ConfluentClient(server.address)
        client.produce("t", [Message(b"%d" % number) for number in range(10)])

        async def scenario() -> None:
            settings = {"group_id": "g", "group_protocol": protocol}
            async with consumer(server.address, **settings) as reader:
                await reader.subscribe(["t"])
                assert numbers(await read(reader, 10)) == list(range(10))
                await asyncio.to_thread(server.stop)
                assert await reader.poll(0.5) == []
                await asyncio.to_thread(server.start)
                producing = asyncio.to_thread(client.produce, "t", [Message(b"10")])
                found: list[ConsumedRecord]
                _, found = await asyncio.gather(producing, read(reader, 1))
                assert [each.offset for each in found] == [10]
                await reader.commit()

        run(scenario())
