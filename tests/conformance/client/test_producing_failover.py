"""The producer while leaders and coordinators fail, and while nothing answers."""

from __future__ import annotations

import asyncio

import pytest

from ottla.client import (
    BufferFullError,
    Delivery,
    Producer,
    TimedOutError,
)
from ottla.testing import Cluster
from tests.conformance.client.consumers import run
from tests.conformance.clients import EARLIEST
from tests.conformance.confluent.client import ConfluentClient

RECORDS = 3_000


def test_every_record_is_written_once_and_in_order_while_nodes_are_killed() -> None:
    with Cluster(3) as cluster:
        cluster.create_topic("t", partitions=3)

        async def scenario() -> None:
            async with Producer(bootstrap_servers=cluster.bootstrap, batch_size=500) as writer:
                deliveries: list[Delivery] = []
                for number in range(RECORDS):
                    partition = number % 3
                    deliveries.append(await writer.send("t", b"%d" % number, partition=partition))
                    if number in (RECORDS // 4, RECORDS // 2):
                        node_id = 1 + number % 3
                        await asyncio.to_thread(cluster.kill, node_id)
                        await (await writer.send("t", b"0", partition=0))
                        await asyncio.to_thread(cluster.restart, node_id)
                for delivery in deliveries:
                    await delivery

        run(scenario())
        starts = {("t", partition): EARLIEST for partition in range(3)}
        found = ConfluentClient(cluster.bootstrap).consume(starts, RECORDS + 2)
        for partition in range(3):
            numbers = [int(each.value or b"") for each in found if each.partition == partition]
            numbers = [number for number in numbers if number or partition == 0]
            expected = [number for number in range(RECORDS) if number % 3 == partition]
            if partition == 0:
                # With the two that were waited for.
                assert sorted(numbers) == sorted([0, 0, *expected])
                numbers = [number for number in numbers if number]
                expected = expected[1:]
            assert numbers == expected


@pytest.mark.parametrize("version", ["1", "2"])
def test_transactions_survive_the_failover_of_their_coordinator(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if version == "1":
        monkeypatch.setattr("ottla.client.producing.transactions._FEATURE", "nothing.version")
    with Cluster(3) as cluster:
        cluster.create_topic("t", partitions=3)

        async def scenario() -> None:
            async with Producer(
                bootstrap_servers=cluster.bootstrap, transactional_id="x"
            ) as writer:
                await writer.init_transactions()
                for number in range(6):
                    async with writer.transaction():
                        for partition in range(3):
                            await writer.send("t", b"%d" % number, partition=partition)
                        if number in (1, 3):
                            await asyncio.to_thread(cluster.kill, number)
                    if number in (1, 3):
                        await asyncio.to_thread(cluster.restart, number)

        run(scenario())
        starts = {("t", partition): EARLIEST for partition in range(3)}
        found = ConfluentClient(cluster.bootstrap).consume(starts, 18, read_committed=True)
        for partition in range(3):
            assert [each.value for each in found if each.partition == partition] == [
                b"%d" % number for number in range(6)
            ]


def test_a_million_records_in_flight_stay_within_the_memory() -> None:
    """Much more than fits is sent while the only node answers nothing."""
    with Cluster() as cluster:
        cluster.create_topic("t")

        async def scenario() -> None:
            properties = {
                "bootstrap.servers": cluster.bootstrap,
                "buffer.memory": 1 << 20,
                "max.block.ms": 500,
            }
            async with Producer(properties) as writer:
                await writer.send_and_wait("t", b"first")
                await asyncio.to_thread(cluster.kill, 1)
                sent: list[Delivery] = []

                async def send_all() -> None:
                    for _ in range(1_000_000):
                        sent.append(await writer.send("t", bytes(100)))

                with pytest.raises(BufferFullError) as full:
                    await send_all()
                assert full.value.retriable
                assert len(sent) < 10_000
                assert 0 <= writer.metrics()["buffer-available-bytes"] < 16_384
                await asyncio.to_thread(cluster.restart, 1)
                assert (await sent[-1]).offset == len(sent)
                assert writer.metrics()["buffer-available-bytes"] == 1 << 20

        run(scenario())


def test_a_record_that_cannot_be_delivered_fails_in_time() -> None:
    with Cluster() as cluster:
        cluster.create_topic("t")

        async def scenario() -> None:
            properties = {
                "bootstrap.servers": cluster.bootstrap,
                "delivery.timeout.ms": 300,
                "request.timeout.ms": 200,
                "linger.ms": 0,
            }
            async with Producer(properties) as writer:
                await writer.send_and_wait("t", b"first")
                await asyncio.to_thread(cluster.kill, 1)
                lost = await writer.send("t", b"lost")
                with pytest.raises(TimedOutError):
                    await lost
                await asyncio.to_thread(cluster.restart, 1)
                # What is lost leaves no gap: the producer goes on.
                while True:
                    try:
                        offset = (await writer.send_and_wait("t", b"next")).offset
                        break
                    except TimedOutError:
                        continue
                assert offset == 1

        run(scenario())
