"""Damage that faults do to logs, and that nothing of it is left when they end."""

from __future__ import annotations

import asyncio

from ottla.model import TopicPartition
from ottla.simulation import World
from ottla.simulation.cluster.cluster import SimulatedCluster, start_cluster
from ottla.simulation.faults.fault_plan import PlannedFault
from ottla.simulation.faults.rot_faults import rot
from ottla.simulation.faults.trouble import Trouble
from ottla.simulation.world.node import SimulatedNode

ORDERS = TopicPartition("orders", 0)
LOG = "/data/orders-0/00000000000000000000.log"


def test_faults_that_overlap_at_a_log_leave_it_as_it_was() -> None:
    """First found by seed 202 with a share group: each took the other's damage for the log's own
    content, and did not revert its own.
    """

    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        node = await _follower_with_a_record(world, cluster)
        sound = node.disk.content(LOG)
        first = _begin_to_rot(world, cluster, node, number=1)
        await world.wait_until(lambda: node.disk.content(LOG) != sound, seconds=10)
        rotten = node.disk.content(LOG)
        node.start()
        second = _begin_to_rot(world, cluster, node, number=2)
        await world.wait_until(
            lambda: second.done() or node.disk.content(LOG) != rotten, seconds=20, step=0.000_1
        )
        # The node has not recovered its log yet, which would remove the damage.
        assert node.disk.content(LOG) != sound
        await _cancel(first, second)
        assert node.disk.content(LOG) == sound

    World(seed=1).run(story)


async def _follower_with_a_record(world: World, cluster: SimulatedCluster) -> SimulatedNode:
    await cluster.wait_serving()
    # Only what is on the device rots.
    await cluster.admin().create_topic("orders", configs={"flush.messages": "1"})
    await cluster.producer().send(ORDERS, b"record")
    leader = await cluster.wait_leader("orders", 0)
    follower = next(node for node in cluster.nodes if node is not leader)
    await world.wait_until(lambda: follower.disk.durable_size(LOG) > 0, seconds=10)
    return follower


def _begin_to_rot(
    world: World, cluster: SimulatedCluster, node: SimulatedNode, *, number: int
) -> asyncio.Task[None]:
    """The fault, which keeps the log corrupt until it is cancelled."""
    fault = PlannedFault(0.0, "rot", 60.0, number, node_id=node.id)
    trouble = Trouble(world, cluster, cluster.admin(f"admin {number}"), "orders", 1, fault)
    return asyncio.get_running_loop().create_task(rot(trouble))


async def _cancel(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
