"""Without an extra: a node, the commands that need no client, a cluster and a simulation."""

from node import ottla, running_node

from ottla import TopicPartition
from ottla.simulation import World, start_cluster
from ottla.testing import Cluster

with running_node() as node:
    assert "LEADER" in ottla("quorum", "status", "--bootstrap", node.address).upper()

with Cluster() as cluster:
    cluster.create_topic("orders")


async def story(world: World) -> int:
    simulated = start_cluster(world, nodes=3)
    await simulated.wait_serving()
    await simulated.admin().create_topic("orders")
    return await simulated.producer().send(TopicPartition("orders", 0), b"an apple")


assert World(seed=7).run(story) == 0
