"""Faults that change the membership of a running cluster: voters, nodes and feature levels."""

from __future__ import annotations

from typing import Final

from ottla.metadata import MetadataImage
from ottla.model import TopicPartition
from ottla.simulation.clients import SimulatedAdmin
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.faults.trouble import Trouble, start_again, stop_node
from ottla.simulation.world.node import SimulatedNode

_VOTERS_MIN: Final = 3
_NODES_MAX: Final = 6
_JOIN_SECONDS_MAX: Final = 10.0
_DRAIN_SECONDS: Final = 0.5
_DRAINS_MAX: Final = 20
_UPGRADE, _SAFE_DOWNGRADE = 1, 2
# Features whose lower level still supports everything that the simulated clients use.
_FEATURES: Final = {
    "streams.version": (0, 1),
    "share.version": (0, 1),
    "transaction.version": (1, 2),
    "metadata.version": (28, 30),
}


async def change_voters(trouble: Trouble) -> None:
    """Adds a node to the voters of the metadata quorum, or removes it from them."""
    controller = trouble.cluster.active_controller
    broker = None if controller is None else trouble.cluster.observer(controller).broker
    if broker is None:
        return
    voters = {each.key.id for each in broker.service.controller.quorum.voters.voters}
    node = trouble.node
    if node.id not in voters:
        error = await trouble.admin.add_voter(node)
        trouble.note(f"adding the voter {node.name}: error {error}")
    elif len(voters) > _VOTERS_MIN:
        error = await trouble.admin.remove_voter(node)
        trouble.note(f"removing the voter {node.name}: error {error}")


async def change_nodes(trouble: Trouble) -> None:
    """Adds a node and moves a partition to it; later drains the node and unregisters it."""
    cluster, world = trouble.cluster, trouble.world
    if len(cluster.nodes) >= _NODES_MAX:
        return
    node = cluster.add_node()
    try:
        await world.wait_until(lambda: node.is_serving, seconds=_JOIN_SECONDS_MAX)
    except TimeoutError:
        return
    others = [each.id for each in cluster.nodes if each is not node]
    trouble.dice.shuffle(others)
    error = await trouble.admin.reassign(trouble.partition, [node.id, *others[:2]])
    trouble.note(f"{trouble.partition} moves to {node.name}: error {error}")
    await trouble.wait()
    for _ in range(_DRAINS_MAX):
        if await is_drained(cluster, trouble.admin, node.id):
            await _leave(trouble, node)
            return
        await world.sleep(_DRAIN_SECONDS)


async def change_feature(trouble: Trouble) -> None:
    """Downgrades a feature of the cluster, and upgrades it again after SECONDS."""
    feature = trouble.dice.choice(tuple(_FEATURES))
    low, high = _FEATURES[feature]
    for level, kind in ((low, _SAFE_DOWNGRADE), (high, _UPGRADE)):
        error = await trouble.admin.update_feature(feature, level=level, upgrade_type=kind)
        trouble.note(f"{feature} to {level}: error {error}")
        await trouble.wait()


async def is_drained(cluster: SimulatedCluster, admin: SimulatedAdmin, node_id: int) -> bool:
    """Starts moving the node's replicas away. Returns whether it had none."""
    controller = cluster.active_controller
    broker = None if controller is None else cluster.observer(controller).broker
    if broker is None:
        return False
    left = _replicas(broker.cluster.image, node_id)
    for partition, replicas in left.items():
        free = [each.id for each in cluster.nodes if each.id not in (*replicas, node_id)]
        wanted = [each for each in replicas if each != node_id]
        await admin.reassign(partition, [*wanted, *free][: max(len(wanted), 3)])
    return not left


async def _leave(trouble: Trouble, node: SimulatedNode) -> None:
    """Stops and unregisters a node. Starts it again if a replica was assigned to it meanwhile."""
    trouble.cluster.nodes.remove(node)
    has_left = False
    try:
        await stop_node(trouble.world, node)
        error = await trouble.admin.unregister(node.id)
        trouble.note(f"{node.name} is unregistered: error {error}")
        has_left = error == 0 and await is_drained(trouble.cluster, trouble.admin, node.id)
    finally:
        if has_left:
            trouble.cluster.gone.append(node.id)
        else:
            trouble.cluster.nodes.append(node)
            start_again(node)


def _replicas(image: MetadataImage, node_id: int) -> dict[TopicPartition, tuple[int, ...]]:
    return {
        TopicPartition(topic.name, index): tuple(partition.replicas)
        for topic in image.topics
        for index, partition in topic.partitions.items()
        if node_id in partition.replicas
    }
