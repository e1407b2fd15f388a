"""Simulated clusters: production code on a simulated network, disk and clock.

    from ottla.simulation import World, start_cluster

    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        ...

    World(seed=7).run(story)

The same seed gives the same history, event for event.
"""

from typing import TYPE_CHECKING

from ottla.exports import lazy_names

if TYPE_CHECKING:
    from ottla.simulation.clients.admin import SimulatedAdmin
    from ottla.simulation.clients.consumer import SimulatedConsumer
    from ottla.simulation.clients.producer import SimulatedProducer
    from ottla.simulation.cluster.cluster import SimulatedCluster, start_cluster
    from ottla.simulation.disk.disk import SimulatedDisk
    from ottla.simulation.disk.disk_faults import DiskFaults, Operation, PowerLost
    from ottla.simulation.history.history import (
        Acknowledged,
        Event,
        Failed,
        Fault,
        History,
        Noted,
        Read,
        Sent,
    )
    from ottla.simulation.seams.dice import SeededDice
    from ottla.simulation.world.host import Host
    from ottla.simulation.world.node import SimulatedNode
    from ottla.simulation.world.world import World
    from ottla.wire.records import Record
else:
    _HISTORY = "ottla.simulation.history.history"
    _FAULTS = "ottla.simulation.disk.disk_faults"
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Acknowledged": _HISTORY,
            "DiskFaults": _FAULTS,
            "Event": _HISTORY,
            "Failed": _HISTORY,
            "Fault": _HISTORY,
            "History": _HISTORY,
            "Host": "ottla.simulation.world.host",
            "Noted": _HISTORY,
            "Operation": _FAULTS,
            "PowerLost": _FAULTS,
            "Read": _HISTORY,
            "Record": "ottla.wire.records",
            "SeededDice": "ottla.simulation.seams.dice",
            "Sent": _HISTORY,
            "SimulatedAdmin": "ottla.simulation.clients.admin",
            "SimulatedCluster": "ottla.simulation.cluster.cluster",
            "SimulatedConsumer": "ottla.simulation.clients.consumer",
            "SimulatedDisk": "ottla.simulation.disk.disk",
            "SimulatedNode": "ottla.simulation.world.node",
            "SimulatedProducer": "ottla.simulation.clients.producer",
            "World": "ottla.simulation.world.world",
            "start_cluster": "ottla.simulation.cluster.cluster",
        },
    )

__all__ = [
    "Acknowledged",
    "DiskFaults",
    "Event",
    "Failed",
    "Fault",
    "History",
    "Host",
    "Noted",
    "Operation",
    "PowerLost",
    "Read",
    "Record",
    "SeededDice",
    "Sent",
    "SimulatedAdmin",
    "SimulatedCluster",
    "SimulatedConsumer",
    "SimulatedDisk",
    "SimulatedNode",
    "SimulatedProducer",
    "World",
    "start_cluster",
]
