"""A simulated cluster: its nodes, its clients, and the operations and faults applied to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.controller.formatting import initial_voter, new_cluster_id
from ottla.model import TopicPartition
from ottla.raft.voters import NO_VOTERS, VoterEndpoint, VoterSet
from ottla.replication.partition import Partition
from ottla.runtime.network import Address
from ottla.simulation.access.access_observer import AccessObserver
from ottla.simulation.clients import SimulatedAdmin, SimulatedConsumer, SimulatedProducer
from ottla.simulation.cluster.cluster_security import SUPER_USERS, SimulatedSecurity
from ottla.simulation.history.history import Fault
from ottla.simulation.world.host import Host
from ottla.simulation.world.node import SimulatedNode
from ottla.simulation.world.observer import Observer
from ottla.simulation.world.world import World

# Fewer partitions of internal topics than by default, to keep simulations fast.
_DEFAULTS: Final = {
    "offsets.topic.num.partitions": "4",
    # Coordinators load their logs in many small reads, which end in the middle of batches.
    "offsets.load.buffer.size": "1000",
    "transaction.state.log.load.buffer.size": "1000",
}


class SimulatedCluster:
    """A cluster in a world, made by `start_cluster`. It lives as long as the world."""

    def __init__(
        self,
        world: World,
        *,
        nodes: int,
        voters: int | None,
        properties: Mapping[str, str],
        security: SimulatedSecurity | None = None,
    ) -> None:
        self._world = world
        self.security = security
        factor = min(nodes, 3)
        hosts = [f"node-{node_id}" for node_id in range(1, nodes + 1)]
        self._properties = {
            "controller.quorum.bootstrap.servers": ",".join(f"{host}:9093" for host in hosts),
            "default.replication.factor": str(factor),
            "min.insync.replicas": "2" if factor == 3 else "1",
            **_DEFAULTS,
            **({} if security is None else security.properties),
            **properties,
        }
        users = [] if security is None else security.credentials()
        self.nodes = [
            SimulatedNode(world.surroundings, node_id, properties=self._properties)
            for node_id in range(1, nodes + 1)
        ]
        dice = world.dice.fork("cluster")
        self._cluster_id = new_cluster_id(dice)
        first = VoterSet.of(
            initial_voter(
                node.id, dice.uuid(), VoterEndpoint("CONTROLLER", *node.controller_address)
            )
            for node in self.nodes[:voters]
        )
        for node in self.nodes:
            node.format(self._cluster_id, first if first.get(node.id) else NO_VOTERS, users)
        # The ids of nodes that were removed for good.
        self.gone: list[int] = []
        # Of what the nodes allow; empty without security.
        self.access_observers: dict[int, AccessObserver] = {}
        self._observers = {node.id: self._observe(node) for node in self.nodes}
        self._nodes_made = nodes

    @property
    def observers(self) -> list[Observer]:
        return [self._observers[node.id] for node in self.nodes]

    def add_node(self) -> SimulatedNode:
        """Adds and starts a node, formatted without voters and configured with bootstrap
        servers.
        """
        self._nodes_made += 1
        world = self._world
        node = SimulatedNode(world.surroundings, self._nodes_made, properties=self._properties)
        world.add_host(node)
        node.format(self._cluster_id, NO_VOTERS)
        self._observers[node.id] = self._observe(node)
        self.nodes.append(node)
        node.start()
        return node

    def _observe(self, node: SimulatedNode) -> Observer:
        if self.security is None:
            return Observer(node)
        access = self.access_observers[node.id] = AccessObserver(node, SUPER_USERS)
        return Observer(node, on_broker=access.attach)

    def start(self) -> None:
        """Starts all nodes; see `wait_serving`."""
        for node in self.nodes:
            node.start()

    def node(self, node_id: int) -> SimulatedNode:
        """The node with this id."""
        return next(node for node in self.nodes if node.id == node_id)

    def observer(self, node: SimulatedNode) -> Observer:
        return self._observers[node.id]

    @property
    def active_controller(self) -> SimulatedNode | None:
        """The node that considers itself the active controller, or None."""
        for node in self.nodes:
            broker = self.observer(node).broker
            if broker is not None and node.is_serving and broker.service.controller.is_active:
                return node
        return None

    def leader_of(self, topic: str, partition: int) -> SimulatedNode | None:
        """The node that considers itself the partition's leader, with the latest leader epoch."""
        found, latest = None, -1
        for node in self.nodes:
            each = self.replica_of(node, TopicPartition(topic, partition))
            if each is not None and each.is_leader and each.leader_epoch > latest:
                found, latest = node, each.leader_epoch
        return found

    def replica_of(self, node: SimulatedNode, name: TopicPartition) -> Partition | None:
        """The replica of a partition on a running node, or None."""
        broker = self.observer(node).broker
        if broker is None or not node.is_running:
            return None
        return next((each for each in broker.partitions if each.name == name), None)

    async def wait_leader(
        self, topic: str, partition: int, *, seconds: float = 60.0
    ) -> SimulatedNode:
        """Waits until a node leads the partition. Raises `TimeoutError`."""
        await self._world.wait_until(
            lambda: self.leader_of(topic, partition) is not None, seconds=seconds
        )
        leader = self.leader_of(topic, partition)
        assert leader is not None
        return leader

    # ---- clients, on a host of their own or on the story's host

    @property
    def bootstrap(self) -> list[Address]:
        """The addresses of all nodes."""
        return [node.address for node in self.nodes]

    def admin(
        self, name: str = "admin", *, host: Host | None = None, only: SimulatedNode | None = None
    ) -> SimulatedAdmin:
        """An administrative client. It connects to any node, or only to the given one."""
        bootstrap = self.bootstrap if only is None else [only.address]
        return SimulatedAdmin(host or self._world.here, bootstrap, name=name)

    def producer(self, name: str = "producer", *, host: Host | None = None) -> SimulatedProducer:
        """An idempotent producer."""
        return SimulatedProducer(
            host or self._world.here, self.bootstrap, self._world.record, name=name
        )

    def consumer(
        self, topic: str, partition: int, *, name: str = "consumer", host: Host | None = None
    ) -> SimulatedConsumer:
        """A consumer that reads one partition from its beginning."""
        return SimulatedConsumer(
            host or self._world.here,
            self.bootstrap,
            self._world.record,
            TopicPartition(topic, partition),
            name=name,
        )

    # ---- operations and faults

    async def wait_serving(self, *, seconds: float = 60.0) -> None:
        """Waits until every node has started. Raises `TimeoutError`."""
        await self._world.wait_until(
            lambda: all(node.is_serving for node in self.nodes), seconds=seconds
        )

    async def rolling_restart(self, *, seconds: float = 60.0) -> None:
        """Stops and starts one node after the other, as an upgrade does."""
        for node in self.nodes:
            await self._restart(node, seconds)

    async def _restart(self, node: SimulatedNode, seconds: float) -> None:
        node.stop()
        await self._world.wait_until(lambda: not node.is_running, seconds=seconds)
        node.start()
        await self._world.wait_until(lambda: node.is_serving, seconds=seconds)

    def partition(self, *sides: tuple[int, ...]) -> None:
        """Cuts the links between nodes of different sides. Clients still reach all nodes."""
        for side in sides:
            for other in sides:
                if side is not other:
                    for source in side:
                        for target in other:
                            self.cut(source, target)
        said = " | ".join(",".join(map(str, side)) for side in sides)
        self._world.record(Fault("network", f"is partitioned: {said}"))

    def cut(self, source: int, target: int) -> None:
        """Cuts the link from one node to another, in this direction only."""
        self._world.fabric.cut(self.node(source).name, self.node(target).name)

    def isolate(self, node_id: int) -> None:
        """Cuts all links of a node, to clients too."""
        name = self.node(node_id).name
        for host in self._world.host_names:
            if host != name:
                self._world.fabric.cut(name, host)
                self._world.fabric.cut(host, name)
        self._world.record(Fault(name, "is cut off"))

    def heal_network(self) -> None:
        """Restores all links."""
        self._world.fabric.heal_all()
        self._world.record(Fault("network", "is healed"))


def start_cluster(
    world: World,
    *,
    nodes: int = 3,
    voters: int | None = None,
    properties: Mapping[str, str] | None = None,
    security: SimulatedSecurity | None = None,
) -> SimulatedCluster:
    """Creates a cluster and begins to start its nodes.

    All nodes vote on the metadata, or only the first `voters`. `properties` are Kafka's broker
    configs. With `security`, clients and nodes authenticate, and ACLs say what clients may do.
    """
    cluster = SimulatedCluster(
        world, nodes=nodes, voters=voters, properties=properties or {}, security=security
    )
    for node in cluster.nodes:
        world.add_host(node)
    cluster.start()
    return cluster
