"""Clusters in a bottle: the production's own code on a simulated network, disk and clock.

    from ottla.simulation import World

    async def story(world: World) -> None:
        cluster = world.cluster(nodes=3)
        await cluster.wait_serving()
        ...

    World(seed=7).run(story)

`World` is imported when it is asked for: whoever needs a simulated disk alone need not load a
broker.
"""

from typing import TYPE_CHECKING, Any

from ottla.simulation.disk.disk import DiskCounters, SimulatedDisk
from ottla.simulation.disk.disk_faults import DiskFaults, Operation, PowerLost
from ottla.simulation.seams.clock import SimulatedClock
from ottla.simulation.seams.dice import SeededDice

if TYPE_CHECKING:
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
]


def __getattr__(name: str) -> Any:
    if name == "World":
        from ottla.simulation.world.world import World

        return World
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
