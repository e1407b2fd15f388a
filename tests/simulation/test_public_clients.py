"""The public producer in simulated clusters, while nodes are killed and cut off."""

from __future__ import annotations

import pytest

from ottla.client import ClientError, ClientSeams, Consumer, Delivery, Producer, TimedOutError
from ottla.model import TopicPartition
from ottla.simulation import SimulatedCluster, World
from ottla.simulation.cluster.cluster import start_cluster
from ottla.simulation.world.host import Host
from tests.support.soak import IS_SOAK

SEEDS = range(200 if IS_SOAK else 6)
PARTITIONS = 2
RECORDS = 120


def producer_on(host: Host, cluster: SimulatedCluster, **properties: object) -> Producer:
    return Producer(
        {
            "bootstrap.servers": [str(address) for address in cluster.bootstrap],
            "batch.size": 120,
            "request.timeout.ms": 2_000,
            "socket.connection.setup.timeout.ms": 2_000,
            **{name.replace("_", "."): value for name, value in properties.items()},
        },
        seams=ClientSeams(host.clock, host.network, host.dice.fork("client")),
    )


async def trouble(world: World, cluster: SimulatedCluster) -> None:
    """Three faults, one after the other, each healed before the next."""
    dice = world.dice.fork("trouble")
    for _ in range(3):
        await world.sleep(dice.below(400) / 1_000)
        node = dice.choice(cluster.nodes)
        if dice.chance(0.5):
            node.kill()
            await world.sleep(dice.below(3_000) / 1_000)
            node.start()
        else:
            cluster.isolate(node.id)
            await world.sleep(dice.below(3_000) / 1_000)
            cluster.heal_network()


async def read(cluster: SimulatedCluster, partition: int, count: int) -> list[bytes | None]:
    consumer = cluster.consumer("t", partition, name=f"reader {partition}")
    values: list[bytes | None] = []
    while len(values) < count:
        values += [record.value for record in await consumer.poll()]
    return values


@pytest.mark.parametrize("seed", SEEDS)
def test_every_record_is_in_the_log_once_and_in_order(seed: int) -> None:
    run_numbers(seed, is_idempotent=True)


def test_without_idempotence_the_same_faults_double_records() -> None:
    """So the test above can fail."""
    with pytest.raises(AssertionError):
        run_numbers(0, is_idempotent=False)


def run_numbers(seed: int, *, is_idempotent: bool) -> None:
    async def send(world: World, cluster: SimulatedCluster, host: Host) -> None:
        async with producer_on(host, cluster, enable_idempotence=is_idempotent) as producer:
            deliveries: list[Delivery] = []
            for number in range(RECORDS):
                value, partition = b"%d" % number, number % PARTITIONS
                deliveries.append(await producer.send("t", value, partition=partition))
                if number % 5 == 0:
                    await host.clock.sleep(0.02)
            for number, delivery in enumerate(deliveries):
                assert (await delivery).partition == number % PARTITIONS

    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        await cluster.admin().create_topic("t", partitions=PARTITIONS)
        host = world.host("shop")
        troubles = host.run("trouble", trouble(world, cluster))
        await world.run_on(host, send(world, cluster, host))
        await world.wait_until(troubles.done, seconds=60)
        for partition in range(PARTITIONS):
            expected = [b"%d" % number for number in range(partition, RECORDS, PARTITIONS)]
            # With one more at the end, nothing is hidden behind the last one expected.
            await cluster.producer(f"last {partition}").send(TopicPartition("t", partition), b"end")
            assert await read(cluster, partition, len(expected) + 1) == [*expected, b"end"]

    World(seed=seed).run(story)


@pytest.mark.parametrize("is_prepared", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_transaction_is_committed_once_and_as_a_whole(seed: int, is_prepared: bool) -> None:
    async def commit(host: Host, producer: Producer, number: int) -> None:
        """Begins again after an error that aborts; a commit that timed out is repeated."""
        while True:
            # A prepared transaction is one of TransactionV1, and may be committed as well.
            producer.begin_transaction(is_prepared=is_prepared)
            try:
                for partition in range(PARTITIONS):
                    await producer.send("t", b"%d" % number, partition=partition)
                while True:
                    try:
                        await producer.commit_transaction(timeout=1)
                        return
                    except TimedOutError:
                        await host.clock.sleep(0.1)
            except ClientError:
                await producer.abort_transaction()

    async def write(cluster: SimulatedCluster, host: Host) -> None:
        async with producer_on(host, cluster, transactional_id="shop") as producer:
            await producer.init_transactions()
            for number in range(15):
                await commit(host, producer, number)
                await host.clock.sleep(0.05)

    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        await cluster.admin().create_topic("t", partitions=PARTITIONS)
        host = world.host("shop")
        troubles = host.run("trouble", trouble(world, cluster))
        await world.run_on(host, write(cluster, host))
        await world.wait_until(troubles.done, seconds=60)
        reader = world.host("reader")
        for partition in range(PARTITIONS):
            found = await world.run_on(reader, committed(cluster, reader, partition))
            assert found == [b"%d" % number for number in range(15)]

    async def committed(
        cluster: SimulatedCluster, host: Host, partition: int
    ) -> list[bytes | None]:
        name = TopicPartition("t", partition)
        async with Consumer(
            {
                "bootstrap.servers": [str(address) for address in cluster.bootstrap],
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
            },
            seams=ClientSeams(host.clock, host.network, host.dice.fork(f"reader {partition}")),
        ) as consumer:
            consumer.assign([name])
            end = (await consumer.end_offsets([name]))[name]
            values: list[bytes | None] = []
            while await consumer.position(name) < end:
                values += [record.value for record in await consumer.poll(1.0)]
            return values

    World(seed=seed).run(story)
