"""The two that are compared: three nodes each, every node a broker and a controller, on loopback.

Both read the same properties and are formatted with the same list of controllers. Apache Kafka runs
as its own start script runs it; all that is not named here is at its default, which is the same.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from benchmarks.cluster.node_process import NodeProcess
from benchmarks.cluster.view import wait_brokers
from benchmarks.versus.servers import (
    CLUSTER_ID,
    COMMON_CONFIGS,
    JAVA_OPTIONS,
    KafkaServer,
    OttlaServer,
    compile_sources,
)
from benchmarks.versus.wire_client import WireError
from ottla.model import uuid_to_text
from ottla.runtime.dice import SystemDice
from ottla.runtime.free_ports import free_ports
from tests.conformance.kafka.process import CLASSPATH

NODES = 3
HOST = "127.0.0.1"
START_TIMEOUT_S = 120.0
CONFIGS = COMMON_CONFIGS | {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
}


class Cluster(ABC):
    """Formatted when made, over a directory that `fresh_cluster` makes and removes.

    Not running until `start`; after `stop` it can be started again over the same data.
    """

    name: ClassVar[str]

    def __init__(self, scratch: Path) -> None:
        dice = SystemDice()
        ports = free_ports(dice, HOST, count=2 * NODES)
        controllers = [f"{HOST}:{port}" for port in ports[NODES:]]
        directory_ids = [uuid_to_text(dice.uuid()) for _ in controllers]
        initial_controllers = ",".join(
            f"{node_id}@{controller}:{directory_id}"
            for node_id, (controller, directory_id) in enumerate(
                zip(controllers, directory_ids, strict=True), start=1
            )
        )
        nodes = []
        for node_id, (port, controller) in enumerate(zip(ports, controllers, strict=False), 1):
            address, properties = f"{HOST}:{port}", scratch / f"node-{node_id}.properties"
            configs = CONFIGS | {
                "node.id": str(node_id),
                "listeners": f"PLAINTEXT://{address},CONTROLLER://{controller}",
                "controller.quorum.bootstrap.servers": ",".join(controllers),
                "log.dirs": str(scratch / f"node-{node_id}"),
            }
            properties.write_text("".join(f"{key}={value}\n" for key, value in configs.items()))
            identity = ("--cluster-id", CLUSTER_ID, "--initial-controllers", initial_controllers)
            format_command = [*self.format_command(), *identity, "--config", str(properties)]
            subprocess.run(format_command, check=True, capture_output=True)
            nodes.append(
                NodeProcess(
                    node_id,
                    address=address,
                    command=self.start_command(properties),
                    log=scratch / f"node-{node_id}.out",
                )
            )
        self.nodes = tuple(nodes)

    @abstractmethod
    def format_command(self) -> list[str]:
        """What formats a node; its identity and its properties follow."""

    @abstractmethod
    def start_command(self, properties: Path) -> list[str]:
        """What runs a node in the foreground."""

    @property
    def bootstrap(self) -> str:
        return ",".join(self.addresses)

    @property
    def addresses(self) -> list[str]:
        return [node.address for node in self.nodes]

    def addresses_without(self, node: NodeProcess) -> list[str]:
        return [other.address for other in self.nodes if other is not node]

    def node(self, node_id: int) -> NodeProcess:
        return self.nodes[node_id - 1]

    def start(self) -> None:
        """Starts all nodes at once and returns when each of them serves and knows the others."""
        for node in self.nodes:
            node.start()
        self.wait_ready()

    def wait_ready(self) -> None:
        try:
            wait_brokers(
                self.addresses,
                count=NODES,
                is_alive=lambda: all(node.is_running for node in self.nodes),
                timeout_s=START_TIMEOUT_S,
            )
        except WireError as error:
            log = "\n".join(node.last_log() for node in self.nodes)
            raise WireError(f"{self.name} did not start: {error}\n{log}") from error

    def stop(self) -> None:
        for node in self.nodes:
            node.request_stop()
        for node in self.nodes:
            node.wait_stopped()

    def cpu_seconds(self) -> float:
        return sum(node.cpu_seconds() for node in self.nodes)

    def resident_bytes(self) -> int:
        return sum(node.resident_bytes() for node in self.nodes)


class KafkaCluster(Cluster):
    name = KafkaServer.name

    def format_command(self) -> list[str]:
        java = ["java", "-XX:TieredStopAtLevel=1", "-cp", CLASSPATH]
        return [*java, "kafka.tools.StorageTool", "format"]

    def start_command(self, properties: Path) -> list[str]:
        return ["java", *JAVA_OPTIONS, "-cp", CLASSPATH, "kafka.Kafka", str(properties)]


class OttlaCluster(Cluster):
    name = OttlaServer.name

    def format_command(self) -> list[str]:
        compile_sources()
        return [ottla_program(), "format"]

    def start_command(self, properties: Path) -> list[str]:
        return [ottla_program(), "start", "--config", str(properties)]


@contextlib.contextmanager
def fresh_cluster(kind: type[Cluster]) -> Iterator[Cluster]:
    """A new cluster, not yet started; killed and removed in the end."""
    scratch = Path(tempfile.mkdtemp(prefix="cluster-"))
    try:
        cluster = kind(scratch)
        try:
            yield cluster
        finally:
            for node in cluster.nodes:
                node.kill()
    finally:
        shutil.rmtree(scratch)


def ottla_program() -> str:
    return str(Path(sys.executable).with_name("ottla"))
