"""Share consumers when brokers die: every record is accepted in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import perf_counter

import pytest

from ottla.client import AcknowledgementOutcome, Admin, Producer, ShareConsumer, SharedRecord
from ottla.client.administration import ConfigResource, ConfigResourceType
from ottla.testing import Cluster
from tests.conformance.client.consumers import run
from tests.conformance.clients import TIMEOUT_S

PARTITIONS = 3
RECORDS = 300
GROUP = "survivors"
SETTINGS = {
    "group.share.min.heartbeat.interval.ms": "200",
    "group.share.heartbeat.interval.ms": "200",
    "share.coordinator.state.topic.num.partitions": "3",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=3, properties=SETTINGS) as cluster:
        yield cluster


def test_all_records_are_accepted_while_each_node_dies_in_turn(cluster: Cluster) -> None:
    cluster.create_topic("shared", partitions=PARTITIONS)
    accepted: set[bytes] = set()
    values: dict[tuple[int, int], bytes] = {}

    def acknowledged(outcome: AcknowledgementOutcome) -> None:
        if outcome.error is None:
            for offset in outcome.offsets:
                accepted.add(values[outcome.partition.partition, offset])

    def note(records: list[SharedRecord]) -> None:
        for record in records:
            values[record.partition, record.offset] = record.value or b""

    async def consume() -> None:
        deadline = perf_counter() + 2 * TIMEOUT_S
        async with ShareConsumer(
            bootstrap_servers=cluster.bootstrap, group_id=GROUP, max_poll_records=20
        ) as consumer:
            await consumer.subscribe("shared", on_acknowledged=acknowledged)
            while len(accepted) < RECORDS:
                assert perf_counter() < deadline, f"{len(accepted)} of {RECORDS} are accepted"
                note(await consumer.poll(0.2))

    async def scenario() -> None:
        resource = ConfigResource(ConfigResourceType.GROUP, GROUP)
        async with Admin(bootstrap_servers=cluster.bootstrap) as admin:
            (await admin.alter_configs({resource: {"share.auto.offset.reset": "earliest"}})).all()
        consuming = asyncio.gather(consume(), consume())
        async with Producer(bootstrap_servers=cluster.bootstrap) as producer:
            for part in range(3):
                for number in range(part * RECORDS // 3, (part + 1) * RECORDS // 3):
                    await producer.send("shared", b"%d" % number)
                await producer.flush()
                await asyncio.to_thread(cluster.kill, part + 1)
                await asyncio.to_thread(cluster.restart, part + 1)
        await consuming
        assert accepted == {b"%d" % number for number in range(RECORDS)}

    run(scenario())
