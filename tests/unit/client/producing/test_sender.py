"""Which batches a request takes, and how large they are by then."""

from __future__ import annotations

import asyncio
from typing import Any

from ottla.client.producing.accumulator import Accumulator
from ottla.client.producing.batch import Delivery
from ottla.client.producing.guarantees import NoGuarantee
from ottla.client.producing.metrics import ProducerMetrics
from ottla.client.producing.sender import ProduceSender
from ottla.client.settings.parsing import parse_properties
from ottla.client.settings.producer import PRODUCER, producer_settings
from tests.unit.client.producing.held_cluster import HeldCluster, turns


def accumulator(cluster: Any, **properties: Any) -> Accumulator:
    """Whose batches are sent without idempotence."""
    keywords = {"bootstrap_servers": "127.0.0.1", "enable_idempotence": False, "linger_ms": 0}
    settings = producer_settings(parse_properties(PRODUCER, None, keywords | properties))
    sender = ProduceSender(cluster, settings, ProducerMetrics())
    found = sender.accumulator = Accumulator(cluster, settings, sender.wake, sender.added)
    sender.guarantee = NoGuarantee()
    assert found.learn("t")
    return found


def add(to: Accumulator, value: bytes = b"v", partition: int | None = None) -> Delivery:
    delivery = to.append("t", value, None, partition, None, None)
    assert isinstance(delivery, Delivery)
    return delivery


def test_records_that_arrive_while_requests_are_in_flight_share_the_next_batch() -> None:
    async def scenario() -> None:
        cluster = HeldCluster()
        records = accumulator(cluster, max_in_flight_requests_per_connection=2)
        deliveries = []
        for _ in range(100):
            deliveries.append(add(records))
            await turns()
        assert cluster.sent == [{0: 1}, {0: 1}], "without linger, as long as there is room"
        await cluster.answer()
        assert cluster.sent[2:] == [{0: 98}]
        await cluster.answer()
        assert all(each.done() for each in deliveries)
        assert records.memory.free == records.memory.bytes_max

    asyncio.run(scenario())


def test_a_batch_that_waits_becomes_no_larger_than_batch_size() -> None:
    async def scenario() -> None:
        cluster = HeldCluster()
        records = accumulator(cluster, max_in_flight_requests_per_connection=1, batch_size=1_000)
        for _ in range(31):
            add(records, b"x" * 100)
            await turns()
        for _ in range(5):
            await cluster.answer()
        assert sum(each[0] for each in cluster.sent) == 31
        assert max(each[0] for each in cluster.sent) * 100 < 1_000
        assert len(cluster.sent) == 5

    asyncio.run(scenario())


def test_partitions_without_room_in_a_request_are_first_in_the_next() -> None:
    async def scenario() -> None:
        cluster = HeldCluster(partition_count=3)
        records = accumulator(
            cluster,
            max_in_flight_requests_per_connection=1,
            batch_size=1_000,
            max_request_size=1_500,
        )
        for _ in range(3):
            for partition in range(3):
                add(records, b"x" * 900, partition)
        for _ in range(9):
            await turns()
            await cluster.answer()
        assert [list(each) for each in cluster.sent] == [[0], [1], [2]] * 3

    asyncio.run(scenario())
