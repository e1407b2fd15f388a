"""Without an extra: a node, the commands, clients, a cluster and a simulation."""

from node import ottla, running_node

from ottla import TopicPartition
from ottla.client.sync import Admin
from ottla.simulation import World, start_cluster
from ottla.testing import Cluster

with running_node() as node:
    at = ("--bootstrap", node.address)
    assert "LEADER" in ottla("quorum", "status", *at).upper()
    ottla("topics", "create", "orders", *at)
    ottla("produce", "orders", *at, standard_input="an apple\n")
    assert "an apple" in ottla("consume", "orders", "--from", "beginning", *at)
    with Admin(bootstrap_servers=node.address) as admin:
        assert "orders" in admin.list_topics()

with Cluster() as cluster:
    cluster.create_topic("orders")


async def story(world: World) -> int:
    simulated = start_cluster(world, nodes=3)
    await simulated.wait_serving()
    await simulated.admin().create_topic("orders")
    return await simulated.producer().send(TopicPartition("orders", 0), b"an apple")


assert World(seed=7).run(story) == 0
