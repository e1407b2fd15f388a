"""The directory of a cluster on this host, with one folder for each node.

    DIR/cluster.json                 running processes, for scripts and for `ottla cluster`
    DIR/node-1/server.properties     the node's configuration; yours to edit
    DIR/node-1/data/                 its log directory
    DIR/node-1/node.log              its output

Ports are chosen once, when the cluster is created, and stay in the properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ottla.cli.connection.bootstrap_addresses import PORT_MAX, address_text, join_addresses
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs import InvalidConfigError, NodeConfig
from ottla.runtime.network import Address

PROPERTIES_NAME: Final = "server.properties"
STATE_NAME: Final = "cluster.json"
CLIENT_PROPERTIES_NAME: Final = "client.properties"


@dataclass(frozen=True, slots=True)
class NodePlace:
    """A node's folder and addresses."""

    id: int
    folder: Path
    address: Address
    controller_address: Address

    @property
    def properties_file(self) -> Path:
        return self.folder / PROPERTIES_NAME

    @property
    def log_file(self) -> Path:
        return self.folder / "node.log"

    @property
    def stopped_file(self) -> Path:
        """While this file exists, the supervisor does not start the node."""
        return self.folder / "stopped"

    @property
    def data_directory(self) -> Path:
        return self.folder / "data"


@dataclass(frozen=True, slots=True)
class ClusterLayout:
    """The nodes of a cluster, in id order."""

    directory: Path
    nodes: tuple[NodePlace, ...]

    @property
    def bootstrap(self) -> str:
        return join_addresses(tuple(node.address for node in self.nodes))

    @property
    def state_file(self) -> Path:
        return self.directory / STATE_NAME

    @property
    def client_properties_file(self) -> Path:
        """The credentials of the user `admin`, in a secured cluster."""
        return self.directory / CLIENT_PROPERTIES_NAME

    def node(self, node_id: int) -> NodePlace:
        for node in self.nodes:
            if node.id == node_id:
                return node
        ids = ", ".join(str(node.id) for node in self.nodes)
        raise CommandError(
            f"There is no node {node_id} in {self.directory}; its nodes are {ids}.",
            exit_code=ExitCode.USAGE,
        )


def parse_listen(text: str) -> Address:
    """Parses HOST:PORT. Port 0 stands for any free port."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > PORT_MAX:
        raise CommandError(
            f"{text!r} is not an address to listen on.",
            "Write HOST:PORT, such as 127.0.0.1:9092 or [::1]:9092.",
            exit_code=ExitCode.USAGE,
        )
    return Address(host.strip("[]"), int(port))


def has_cluster(directory: Path) -> bool:
    return (directory / STATE_NAME).exists()


def read_layout(directory: Path) -> ClusterLayout:
    """The cluster in a directory, read from its nodes' properties."""
    directory = directory.resolve()
    if not has_cluster(directory):
        raise CommandError(
            f"There is no cluster in {directory}.",
            "Give the directory of the cluster with --data-dir DIR or OTTLA_CLUSTER_DIR; `ottla "
            "cluster up --data-dir DIR` creates a cluster.",
            exit_code=ExitCode.USAGE,
        )
    nodes = [_read_node(file) for file in directory.glob(f"node-*/{PROPERTIES_NAME}")]
    return ClusterLayout(directory, tuple(sorted(nodes, key=lambda node: node.id)))


def node_folder(directory: Path, node_id: int) -> Path:
    return directory / f"node-{node_id}"


def node_properties(
    place: NodePlace,
    *,
    bootstrap_controllers: str,
    advertised_host: str | None,
    defaults: Mapping[str, str],
) -> dict[str, str]:
    """The configuration of a node of a new cluster. Controllers communicate within the host."""
    properties = {
        "process.roles": "broker,controller",
        "node.id": str(place.id),
        "listeners": f"PLAINTEXT://{address_text(place.address)},"
        f"CONTROLLER://{address_text(place.controller_address)}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": bootstrap_controllers,
        "log.dirs": str(place.data_directory),
    }
    if advertised_host is not None:
        advertised = place.address._replace(host=advertised_host)
        properties["advertised.listeners"] = f"PLAINTEXT://{address_text(advertised)}"
    return {**properties, **defaults}


def _read_node(file: Path) -> NodePlace:
    try:
        config = NodeConfig.from_properties(file.read_text("latin-1"))
    except InvalidConfigError as error:
        raise CommandError(f"{file}: {error.message}", exit_code=ExitCode.USAGE) from None
    return node_place(config, file.parent)


def node_place(config: NodeConfig, folder: Path) -> NodePlace:
    """A node that is only a broker has no controller address, and gets the one of its clients."""
    client, *_ = config.listeners.advertised
    controller, *_ = (*config.listeners.controller, client)
    return NodePlace(
        config.node_id,
        folder,
        Address(client.host or "localhost", client.port),
        Address(controller.host or "localhost", controller.port),
    )
