"""A node of a simulated cluster: production code on a host with fault injection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ottla.broker.host_seams import HostSeams
from ottla.broker.node import Node
from ottla.configs import NodeConfig
from ottla.controller.formatting import format_node
from ottla.model import NodeId, Uuid
from ottla.raft.voters import VoterSet
from ottla.runtime.network import Address
from ottla.simulation.history.history import Fault, Noted
from ottla.simulation.world.host import Host, HostSurroundings
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord

DATA_DIRECTORY = "/data"
CLIENT_PORT = 9092
CONTROLLER_PORT = 9093

# Each has a listener of its own, on nodes with `ottla.tenant.listeners`.
TENANTS: Final = ("acme", "beta")
TENANT_PORT: Final = 9_192


class SimulatedNode(Host):
    """A host with one node of the cluster, which can be started and ended any number of times."""

    def __init__(
        self, surroundings: HostSurroundings, node_id: int, *, properties: Mapping[str, str]
    ) -> None:
        super().__init__(surroundings, f"node-{node_id}")
        self.id = node_id
        # None unless a process runs; the node may still be starting.
        self.node: Node | None = None
        # Called after each step of the node's process.
        self.observe: Callable[[], object] = lambda: None
        # Each has a flipped bit; the fault that flipped it will flip it back or delete the replica.
        self.rotten_logs: set[str] = set()
        self._is_serving = False
        self._is_stopping = False
        self.record = surroundings.record
        listener = properties.get("security.inter.broker.protocol", "PLAINTEXT")
        self._properties = {
            "process.roles": "broker,controller",
            "node.id": str(node_id),
            "listeners": f"{listener}://{self.name}:{CLIENT_PORT},"
            f"CONTROLLER://{self.name}:{CONTROLLER_PORT}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": DATA_DIRECTORY,
            **properties,
        }
        if "ottla.tenant.listeners" in properties:
            self._listen_for_tenants()

    def _listen_for_tenants(self) -> None:
        names = [tenant.upper() for tenant in TENANTS]
        own = self._properties["listeners"]
        for name, tenant in zip(names, TENANTS, strict=True):
            address = self.tenant_address(tenant)
            own += f",{name}://{address.host}:{address.port}"
        self._properties |= {
            "listeners": own,
            "listener.security.protocol.map": ",".join(
                f"{name}:PLAINTEXT" for name in ("PLAINTEXT", "CONTROLLER", *names)
            ),
            "inter.broker.listener.name": "PLAINTEXT",
        }

    def tenant_address(self, tenant: str) -> Address:
        return Address(self.name, TENANT_PORT + TENANTS.index(tenant))

    @property
    def address(self) -> Address:
        return Address(self.name, CLIENT_PORT)

    @property
    def controller_address(self) -> Address:
        return Address(self.name, CONTROLLER_PORT)

    @property
    def directory_id(self) -> Uuid:
        identity = read_meta_properties(self.disk, DATA_DIRECTORY)
        assert identity is not None, "a node is formatted when it is made"
        assert identity.directory_id is not None
        return identity.directory_id

    @property
    def is_serving(self) -> bool:
        """Whether the node has started and still runs."""
        return self.is_running and self._is_serving

    def format(
        self,
        cluster_id: str,
        voters: VoterSet,
        users: Sequence[UserScramCredentialRecord] = (),
    ) -> None:
        format_node(
            self.disk,
            [DATA_DIRECTORY],
            metadata_path=DATA_DIRECTORY,
            cluster_id=cluster_id,
            node_id=NodeId(self.id),
            voters=voters,
            users=users,
            dice=self.dice,
            now_ms=self.clock.now_ms(),
        )

    def start(self) -> None:
        """Begins to start; see `is_serving`."""
        loop = self.start_process()
        self._is_serving = self._is_stopping = False
        seams = HostSeams(self.disk, self.clock, self.process_dice, self.network, self.background)
        node = self.node = Node(NodeConfig.of(self._properties), seams, on_failed=self._failed)
        loop.look = self._look_at_node
        self.record(Noted(self.name, "starts"))
        self.run("start", self._start(node))

    def stop(self) -> None:
        """Begins a clean shutdown. `is_running` becomes False when it is done."""
        node = self.node
        if self.is_running and node is not None:
            self.record(Noted(self.name, "stops"))
            self._begin_stop(node)

    def _failed(self) -> None:
        """Stops a failed node, as `ottla start` does. A node that still starts ends by itself."""
        node = self.node
        assert node is not None
        self.record(Noted(self.name, f"cannot continue: {node.failure}"))
        if self._is_serving:
            self._begin_stop(node)

    def _begin_stop(self, node: Node) -> None:
        if not self._is_stopping:
            self._is_stopping = True
            self.run("stop", self._stop(node))

    def kill(self) -> None:
        """Ends the node at once. Its writes remain in the page cache."""
        if self.is_running:
            self.record(Fault(self.name, "is killed"))
            super().kill()
            self.node = None

    def lose_power(self) -> None:
        """Turns the host off. Unsynced data may be lost."""
        self.record(Fault(self.name, "loses power"))
        super().lose_power()
        self.node = None

    def forget(self) -> None:
        super().forget()
        self.node = None

    def pause(self) -> None:
        """Stops the node's process, as SIGSTOP does."""
        if self.is_running and not self.is_paused:
            self.record(Fault(self.name, "is paused"))
            super().pause()

    def resume(self) -> None:
        """Continues a paused node."""
        if self.is_paused:
            self.record(Fault(self.name, "resumes"))
            super().resume()

    async def _start(self, node: Node) -> None:
        try:
            await node.start()
        except Exception as error:
            self.record(Noted(self.name, f"did not start: {type(error).__name__}: {error}"))
            self._surroundings.scheduler.call_later(0, self._exit, node)
            return
        self._is_serving = True
        self.record(Noted(self.name, "serves"))

    async def _stop(self, node: Node) -> None:
        if not self._is_serving:
            # A stop during the start ends the process, as a signal does.
            self._surroundings.scheduler.call_later(0, self._exit, node)
            return
        try:
            await node.stop()
        except Exception as error:
            self.record(Noted(self.name, f"did not stop cleanly: {type(error).__name__}: {error}"))
        self._surroundings.scheduler.call_later(0, self._exit, node)

    def _exit(self, node: Node) -> None:
        if self.node is node and self.is_running:
            self.record(Noted(self.name, "has ended"))
            self.exited()
            self.node = None

    def _look_at_node(self) -> None:
        if self.disk.faults.seconds_waited:
            self._look()
        self.observe()
