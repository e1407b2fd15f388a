"""Clusters in a bottle: the production's own code on a simulated network, disk and clock.

    from ottla.simulation import World, start_cluster

    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        ...

    World(seed=7).run(story)

`World` and `start_cluster` are imported when they are first used: a simulated disk alone does not
load a broker.
"""

from typing import TYPE_CHECKING, Any

from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import DiskFaults, Operation, PowerLost
from ottla.simulation.seams.clock import SimulatedClock
from ottla.simulation.seams.dice import SeededDice

if TYPE_CHECKING:
    from ottla.simulation.cluster.cluster import start_cluster
    from ottla.simulation.world.world import World

__all__ = [
    "DiskCounters",
    "DiskFaults",
    "Operation",
    "PowerLost",
    "SeededDice",
    "SimulatedClock",
    "SimulatedDisk",
    "World",
    "start_cluster",
]


def __getattr__(name: str) -> Any:
    if name == "World":
        from ottla.simulation.world.world import World

        return World
    if name == "start_cluster":
        from ottla.simulation.cluster.cluster import start_cluster

        return start_cluster
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
