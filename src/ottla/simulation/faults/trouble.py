"""The context of a running fault, and helpers that several faults use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.model import TopicPartition
from ottla.simulation.clients import SimulatedAdmin
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.faults.fault_plan import PlannedFault
from ottla.simulation.history.history import Fault, Noted
from ottla.simulation.network.fabric import Fabric
from ottla.simulation.seams.dice import SeededDice
from ottla.simulation.world.node import SimulatedNode
from ottla.simulation.world.world import World

# Slightly longer than the shortest message delay between two hosts.
MOMENT_SECONDS: Final = 0.000_2
_STOP_SECONDS_MAX: Final = 30.0


class Trouble:
    """The context of a fault: the world, the affected node and partition, and random numbers."""

    def __init__(
        self,
        world: World,
        cluster: SimulatedCluster,
        admin: SimulatedAdmin,
        topic: str,
        partitions: int,
        fault: PlannedFault,
    ) -> None:
        self.world = world
        self.cluster = cluster
        self.admin = admin
        self.topic = topic
        self.seconds = fault.seconds
        self.dice = SeededDice(f"fault {fault.number}")
        self.node = self.dice.choice(cluster.nodes)
        if fault.node_id is not None:
            self.node = cluster.node(fault.node_id)
        self.other = self.dice.choice([node for node in cluster.nodes if node is not self.node])
        self.partition = TopicPartition(topic, self.dice.below(partitions))

    async def wait(self) -> None:
        await self.world.sleep(self.seconds)

    @property
    def fabric(self) -> Fabric:
        return self.world.fabric

    async def wait_until(self, is_so: Callable[[], bool], *, seconds: float) -> None:
        """Polls at very short intervals. Raises `TimeoutError`."""
        await self.world.wait_until(is_so, seconds=seconds, step=MOMENT_SECONDS)

    def note(self, what: str) -> None:
        self.world.record(Noted("admin", what))

    def say(self, who: str, what: str) -> None:
        self.world.record(Fault(who, what))


def start_again(node: SimulatedNode) -> None:
    if not node.is_running:
        node.start()


async def stop_node(world: World, node: SimulatedNode) -> None:
    node.stop()
    try:
        await world.wait_until(lambda: not node.is_running, seconds=_STOP_SECONDS_MAX)
    except TimeoutError:
        node.kill()
