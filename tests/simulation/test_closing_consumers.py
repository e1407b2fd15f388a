"""A public consumer that closes: what it leaves behind, and how long it takes."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.broker.broker import Broker
from ottla.client import ClientSeams, Consumer
from ottla.model import TopicPartition
from ottla.simulation import SimulatedCluster, World
from ottla.simulation.cluster.cluster import start_cluster
from ottla.simulation.world.host import Host

GROUP = "readers"


def consumer_on(host: Host, cluster: SimulatedCluster, protocol: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": [str(address) for address in cluster.bootstrap],
            "group.id": GROUP,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
        },
        seams=ClientSeams(host.clock, host.network, host.dice.fork("client")),
    )


async def reading(world: World, protocol: str) -> tuple[SimulatedCluster, Consumer]:
    """A consumer that has read a record, as the only member of its group."""
    cluster = start_cluster(world, nodes=3)
    await cluster.wait_serving()
    await cluster.admin().create_topic("orders")
    await cluster.producer().send(TopicPartition("orders", 0), b"one")
    consumer = consumer_on(world.here, cluster, protocol)
    await consumer.subscribe("orders")
    while not await consumer.poll(1.0):
        pass
    return cluster, consumer


def members(cluster: SimulatedCluster) -> int:
    count = 0
    for broker in brokers(cluster):
        for shard in broker.coordinators.groups.all:
            group: Any = shard.machine.groups.get(GROUP)
            if shard.name == broker.coordinators.groups.partition_of(GROUP) and group is not None:
                count += len(group.members)
    return count


def fetch_sessions(cluster: SimulatedCluster) -> int:
    """Those of followers included."""
    return sum(len(broker.fetch_sessions) for broker in brokers(cluster))


def brokers(cluster: SimulatedCluster) -> list[Broker]:
    return [each.broker for each in cluster.observers if each.broker is not None]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_it_leaves_its_group_and_ends_its_fetch_sessions(protocol: str) -> None:
    async def story(world: World) -> None:
        cluster, consumer = await reading(world, protocol)
        assert members(cluster) == 1
        sessions = fetch_sessions(cluster)
        began = world.now
        await consumer.close()
        assert world.now - began < 0.5
        assert members(cluster) == 0
        assert fetch_sessions(cluster) == sessions - 1

    World(seed=3).run(story)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("timeout", [0.0, 2.0])
def test_it_takes_no_longer_than_allowed_and_still_leaves(protocol: str, timeout: float) -> None:
    """No node answers until the consumer has closed."""

    async def story(world: World) -> None:
        cluster, consumer = await reading(world, protocol)
        for node in cluster.nodes:
            node.pause()
        began = world.now
        await consumer.close(timeout)
        assert world.now - began <= timeout + 0.01
        for node in cluster.nodes:
            node.resume()
        # Much earlier than a session times out.
        await world.wait_until(lambda: members(cluster) == 0, seconds=1)

    World(seed=3).run(story)
