"""A cluster in the test's own process: each node runs in a thread, on free loopback ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ottla.channels import Channel
from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.replication_defaults import replication_defaults
from ottla.controller.formatting import format_node, new_cluster_id
from ottla.model import ErrorCode, KafkaError, NodeId
from ottla.raft.voters import NO_VOTERS
from ottla.runtime.background import InlineBackground
from ottla.runtime.dice import SystemDice
from ottla.runtime.disk import Disk
from ottla.runtime.free_ports import free_ports
from ottla.runtime.network import Address
from ottla.runtime.system_background import SystemBackground
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.runtime.system_network import SystemNetwork
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.testing.embedded_node import WAIT_SECONDS, EmbeddedNode
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.schema import Message

_HOST: Final = "127.0.0.1"
_IN_MEMORY: Final = "/ottla"
# Short intervals, so that tests do not wait for retention or compaction, and few partitions for the
# internal topics.
_TEST_PROPERTIES: Final = {
    "log.retention.check.interval.ms": "1000",
    "log.cleaner.backoff.ms": "500",
    # Tests see that topics are gone.
    "ottla.delete.retention.ms": "0",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
}
# Short timeouts: the nodes share a process, so messages are fast.
_QUORUM_PROPERTIES: Final = {
    "controller.quorum.election.timeout.ms": "300",
    "controller.quorum.election.backoff.max.ms": "300",
}
_CLIENT_ID: Final = "ottla-testing"
_METADATA_VERSION: Final = 12
_CREATE_TOPICS_VERSION: Final = 7
_REQUEST_TIMEOUT_MS: Final = 20_000
_POLL_SECONDS: Final = 0.005


class Cluster:
    """A cluster in this process. It runs from `start` to `stop`, or within `with`.

    Without `data_dir` all data is in memory and lost at the end. With it, data is on disk, and
    another cluster can be started from it. `properties` are Kafka's broker configs. Nodes have the
    ids 1, 2, 3, ...; all are brokers and controllers. With three nodes or more, topics have three
    replicas.
    """

    def __init__(
        self,
        nodes: int = 1,
        *,
        data_dir: Path | str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self._data_dir = None if data_dir is None else str(Path(data_dir).resolve())
        self._properties = {**_TEST_PROPERTIES, **(properties or {})}
        self._ids = [1] if nodes == 1 else list(range(1, nodes + 1))
        assert nodes == 1 or "node.id" not in self._properties, (
            "node.id cannot be set for several nodes, which have ids 1, 2, 3, ..."
        )
        if "listeners" in self._properties:
            raise InvalidConfigError(
                "listeners: a test cluster listens on free ports of 127.0.0.1, in plaintext; leave "
                "the setting out"
            )
        self._memory = {node_id: SimulatedDisk() for node_id in self._ids}
        self._quorum: dict[str, str] = {}
        self._controller_ports: dict[int, int] = {}
        # The addresses of all nodes started so far; a restarted node keeps its address.
        self._addresses: dict[int, Address] = {}
        self._running: dict[int, EmbeddedNode] = {}

    @property
    def bootstrap(self) -> str:
        """The value for a client's `bootstrap.servers`: the addresses of all nodes."""
        return ",".join(f"{host}:{port}" for host, port in self._addresses.values())

    @property
    def metrics_addresses(self) -> list[Address]:
        """Where the running nodes serve their metrics over HTTP, in the order of their ids. Empty
        unless `properties` has `ottla.metrics.listener`; "0" is a free port for each node."""
        nodes = (self._running[node_id] for node_id in sorted(self._running))
        return [node.metrics_address for node in nodes if node.metrics_address is not None]

    @property
    def running(self) -> list[int]:
        """The ids of the running nodes, without those closed after a metadata or disk failure."""
        return sorted(each for each, node in self._running.items() if not node.has_failed)

    def start(self) -> Self:
        """Starts all nodes and returns when they serve. Raises the first error of a failed
        start.
        """
        assert not self._running, "the cluster is already running"
        if len(self._ids) > 1:
            self._prepare_quorum()
        self._start(self._ids)
        return self

    def stop(self) -> None:
        """Shuts down all nodes. With `data_dir` they close their logs cleanly."""
        nodes, self._running = list(self._running.values()), {}
        if self._data_dir is None and len(self._ids) > 1:
            # Without data to keep, skip the clean shutdown: the last nodes could not reach the
            # others and would retry until a timeout.
            for node in nodes:
                node.kill()
            return
        stopping = [node.begin_stop() for node in nodes]
        try:
            for stopped in stopping:
                stopped.result(WAIT_SECONDS)
        finally:
            for node in nodes:
                node.end()

    def kill(self, node_id: int) -> None:
        """Ends a node at once, as SIGKILL ends a process. `restart` starts it again."""
        self._running.pop(node_id).kill()

    def restart(self, node_id: int) -> None:
        """Starts a node again, after a clean stop if it runs. Returns when it serves."""
        node = self._running.pop(node_id, None)
        if node is not None:
            node.stop()
        self._start([node_id])

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        replication_factor: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """Creates a topic and returns when all nodes have its metadata. Raises `KafkaError` if the
        cluster rejects it.
        """
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=-1 if replication_factor is None else replication_factor,
            configs=[
                CreatableTopicConfig(name=key, value=value)
                for key, value in (configs or {}).items()
            ],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=_REQUEST_TIMEOUT_MS)
        first = self._serving[0]
        response = first.call(_send_request(first, request, _CREATE_TOPICS_VERSION))
        result = response.topics[0]
        if result.error_code:
            raise KafkaError(ErrorCode(result.error_code), result.error_message or "")
        for node in self._serving:
            node.call(_wait_topic(node, name))

    def call_in_loop(self, function: Callable[[], object]) -> None:
        """Calls a function in the first node's event loop and waits until it returns."""

        async def call() -> None:
            function()

        self._serving[0].call(call())

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def _serving(self) -> list[EmbeddedNode]:
        nodes = [node for node in self._running.values() if not node.has_failed]
        assert nodes, "no node of the cluster is running"
        return nodes

    def _start(self, node_ids: list[int]) -> None:
        """Starts the nodes concurrently: none becomes ready before a majority runs."""
        nodes = {node_id: self._make_node(node_id) for node_id in node_ids}
        starting = [(node_id, node, node.begin()) for node_id, node in nodes.items()]
        failure: BaseException | None = None
        for node_id, node, started in starting:
            try:
                started.result(WAIT_SECONDS)
            except BaseException as error:
                node.end()
                failure = failure or error
            else:
                self._running[node_id] = node
                self._addresses[node_id] = node.client_address
        if failure is not None:
            self.stop()
            raise failure

    def _make_node(self, node_id: int) -> EmbeddedNode:
        _, port = self._addresses.get(node_id, (_HOST, 0))
        properties, directory = dict(self._properties), self._directory(node_id)
        listeners = [f"PLAINTEXT://{_HOST}:{port}"]
        if len(self._ids) > 1:
            listeners.append(f"CONTROLLER://{_HOST}:{self._controller_ports[node_id]}")
            properties = {**self._quorum, **properties, "node.id": str(node_id)}
        properties["listeners"] = ",".join(listeners)
        config = NodeConfig.of(properties, data_dir=directory)
        # Memory does not wait, but a collector of metrics may not answer.
        is_inline = self._data_dir is None and config.metrics_otlp_endpoint is None
        background = InlineBackground() if is_inline else SystemBackground(threads=2)
        return EmbeddedNode(config, self._disk(node_id), background)

    def _prepare_quorum(self) -> None:
        """The voters are in the properties, so that the next start can use other ports."""
        dice = SystemDice()
        ports = free_ports(dice, _HOST, count=len(self._ids))
        self._controller_ports = dict(zip(self._ids, ports, strict=True))
        voters = (f"{node_id}@{_HOST}:{port}" for node_id, port in self._controller_ports.items())
        self._quorum = {
            **_QUORUM_PROPERTIES,
            **replication_defaults(len(self._ids)),
            "controller.quorum.voters": ",".join(voters),
        }
        found = read_meta_properties(self._disk(self._ids[0]), self._directory(self._ids[0]))
        cluster_id = new_cluster_id(dice) if found is None else found.cluster_id
        for node_id in self._ids:
            format_node(
                self._disk(node_id),
                [],
                metadata_path=self._directory(node_id),
                cluster_id=cluster_id,
                node_id=NodeId(node_id),
                voters=NO_VOTERS,
                dice=dice,
                now_ms=SystemClock().now_ms(),
            )

    def _disk(self, node_id: int) -> Disk:
        return self._memory[node_id] if self._data_dir is None else SystemDisk()

    def _directory(self, node_id: int) -> str:
        root = self._data_dir or _IN_MEMORY
        return root if len(self._ids) == 1 else f"{root}/node-{node_id}"


async def _send_request(node: EmbeddedNode, request: Message, version: int) -> Any:
    channel = await Channel.connect(
        SystemNetwork(),
        SystemClock(),
        node.client_address,
        client_id=_CLIENT_ID,
        timeout_ms=_REQUEST_TIMEOUT_MS,
    )
    try:
        return await channel.send(request, version, timeout_ms=_REQUEST_TIMEOUT_MS)
    finally:
        channel.close()


async def _wait_topic(node: EmbeddedNode, name: str) -> None:
    """Waits until the node's metadata has a leader for all partitions of the topic."""
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
    )
    while True:
        (topic,) = (await _send_request(node, request, _METADATA_VERSION)).topics
        errors = [topic.error_code, *(partition.error_code for partition in topic.partitions)]
        if not any(errors):
            return
        await SystemClock().sleep(_POLL_SECONDS)
