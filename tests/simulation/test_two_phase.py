"""The two-phase commit in simulated clusters: tasks and drivers die while nodes are killed."""

from __future__ import annotations

import pytest

from ottla.client import ClientError, ClientSeams, Consumer, TopicPartition
from ottla.client.two_phase.commitment import Commitment, require_same_rows
from ottla.client.two_phase.decisions import DecisionPart, Work
from ottla.client.two_phase.two_phase_client import TwoPhaseClient
from ottla.simulation import SimulatedCluster, World
from ottla.simulation.cluster.cluster import start_cluster
from ottla.simulation.world.host import Host
from tests.simulation.test_public_clients import trouble
from tests.support.soak import IS_SOAK

SEEDS = range(100 if IS_SOAK else 4)
BATCHES = 4
SLOTS = 2
ROWS = 3


def client_on(host: Host, cluster: SimulatedCluster) -> TwoPhaseClient:
    return TwoPhaseClient(
        {
            "bootstrap.servers": [str(address) for address in cluster.bootstrap],
            "request.timeout.ms": 2_000,
            "socket.connection.setup.timeout.ms": 2_000,
            "delivery.timeout.ms": 20_000,
            "linger.ms": 0,
        },
        journal_topic="journal",
        seams=ClientSeams(host.clock, host.network, host.dice.fork("client")),
    )


async def prepare(client: TwoPhaseClient, work: Work, slot: int) -> DecisionPart:
    """What a task does, as the Spark sink's."""
    commitment = Commitment(client, work)
    decision = await commitment.decided()
    if decision is None:
        await commitment.finish_older([slot])
    elif slot not in await commitment.finish(decision):
        return DecisionPart(slot, ROWS, None)
    else:
        require_same_rows(decision, slot, ROWS)
    producer = await client.begun(work.transactional_id(slot))
    for row in range(ROWS):
        await producer.send("t", b"%d-%d-%d" % (work.batch_id, slot, row), partition=slot)
    await commitment.journal.write_mark(producer, slot)
    return DecisionPart(slot, ROWS, await producer.prepare_transaction())


async def attempt(host: Host, cluster: SimulatedCluster, work: Work) -> bool:
    """One attempt at a batch, which may be given up before the driver has committed it all."""
    async with client_on(host, cluster) as client:
        parts = [await prepare(client, work, slot) for slot in range(SLOTS)]
    async with client_on(host, cluster) as client:
        commitment = Commitment(client, work)
        committing = host.run("commit", commitment.commit(parts))
        await host.clock.sleep(host.dice.below(60) / 1_000)
        if host.dice.chance(0.4):
            committing.cancel()
        try:
            await committing
        except BaseException as error:
            if not committing.cancelled() and not isinstance(error, ClientError):
                raise
            return False
        return True


@pytest.mark.parametrize("seed", SEEDS)
def test_every_batch_is_committed_once(seed: int) -> None:
    async def write(cluster: SimulatedCluster, host: Host) -> None:
        for batch_id in range(BATCHES):
            is_done = False
            while not is_done:
                try:
                    is_done = await attempt(host, cluster, Work("query", batch_id))
                except ClientError:
                    continue

    async def committed(cluster: SimulatedCluster, host: Host, slot: int) -> list[bytes | None]:
        name = TopicPartition("t", slot)
        async with Consumer(
            {
                "bootstrap.servers": [str(address) for address in cluster.bootstrap],
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
            },
            seams=ClientSeams(host.clock, host.network, host.dice.fork(f"reader {slot}")),
        ) as consumer:
            consumer.assign([name])
            values: list[bytes | None] = []
            while len(values) < BATCHES * ROWS:
                values += [record.value for record in await consumer.poll(1.0)]
            return values + [record.value for record in await consumer.poll(1.0)]

    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        await cluster.admin().create_topic("t", partitions=SLOTS)
        host = world.host("spark")
        troubles = host.run("trouble", trouble(world, cluster))
        await world.run_on(host, write(cluster, host))
        await world.wait_until(troubles.done, seconds=60)
        reader = world.host("reader")
        for slot in range(SLOTS):
            assert await world.run_on(reader, committed(cluster, reader, slot)) == [
                b"%d-%d-%d" % (batch_id, slot, row)
                for batch_id in range(BATCHES)
                for row in range(ROWS)
            ]

    World(seed=seed).run(story)
