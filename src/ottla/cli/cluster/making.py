"""Creates a cluster on this host: chooses ports, writes properties, formats directories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ottla.cli.certs.run import require_package
from ottla.cli.client_security.private_file import write_private_file
from ottla.cli.cluster.layout import (
    ClusterLayout,
    NodePlace,
    node_folder,
    node_properties,
)
from ottla.cli.cluster.secured import NewClusterSecurity, write_security
from ottla.cli.cluster.state import initial_state
from ottla.cli.connection.bootstrap_addresses import PORT_MAX, join_addresses
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.java_properties import format_properties
from ottla.configs.near_names import unknown_config_text
from ottla.configs.replication_defaults import replication_defaults
from ottla.controller.formatting import format_node, initial_voter, new_cluster_id
from ottla.model import NodeId
from ottla.raft.voters import VoterEndpoint, VoterSet
from ottla.runtime.dice import Dice, SystemDice
from ottla.runtime.free_ports import free_ports, is_free
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord

CONTROLLER_HOST: Final = "127.0.0.1"
# Short timeouts suffice within one host. A new cluster waits once to twice the election timeout for
# its first leader.
_ONE_HOST: Final = {
    "controller.quorum.election.timeout.ms": "300",
    "controller.quorum.election.backoff.max.ms": "300",
}


@dataclass(frozen=True, slots=True)
class NewCluster:
    """The options of a new cluster. Port 0 stands for any free ports."""

    nodes: int
    listen: Address
    advertised_host: str | None
    settings: Mapping[str, str]
    is_secured: bool = False


def make_cluster(directory: Path, new: NewCluster) -> ClusterLayout:
    """Creates the cluster. Afterwards every node can be started for the first time."""
    directory = directory.resolve()
    _require_empty(directory)
    dice = SystemDice()
    layout = ClusterLayout(directory, _places(directory, new, dice))
    security = _security(layout, dice) if new.is_secured else None
    properties = {place: _properties(place, layout, new, security) for place in layout.nodes}
    for each in properties.values():
        _validate(each)
    for place, each in properties.items():
        place.folder.mkdir(parents=True)
        # A colon needs no escape within a value, and the file is easier to read without.
        text = format_properties(each).replace("\\:", ":")
        # It may have secrets.
        write_private_file(place.properties_file, text)
    if security is not None:
        write_security(layout, security, advertised_host=new.advertised_host)
    cluster_id = new_cluster_id(dice)
    users = [] if security is None else [security.admin_record(dice)]
    _format(layout, cluster_id, users, dice)
    # Written last: the directory has a cluster only once this file exists.
    initial_state(layout, cluster_id).write(layout.state_file)
    return layout


def _security(layout: ClusterLayout, dice: Dice) -> NewClusterSecurity:
    require_package()
    taken = [
        port for node in layout.nodes for port in (node.address.port, node.controller_address.port)
    ]
    ports = free_ports(dice, CONTROLLER_HOST, count=len(layout.nodes), excluding=taken)
    internal = {
        node.id: Address(CONTROLLER_HOST, port)
        for node, port in zip(layout.nodes, ports, strict=True)
    }
    return NewClusterSecurity.choose(internal, dice)


def _properties(
    place: NodePlace, layout: ClusterLayout, new: NewCluster, security: NewClusterSecurity | None
) -> dict[str, str]:
    secured = (
        {}
        if security is None
        else security.properties(place, layout.nodes, advertised_host=new.advertised_host)
    )
    controllers = tuple(node.controller_address for node in layout.nodes)
    return node_properties(
        place,
        bootstrap_controllers=join_addresses(controllers),
        advertised_host=new.advertised_host,
        defaults={**_ONE_HOST, **replication_defaults(new.nodes), **secured, **new.settings},
    )


def _format(
    layout: ClusterLayout,
    cluster_id: str,
    users: Sequence[UserScramCredentialRecord],
    dice: Dice,
) -> None:
    """Formats every node's directory with the same voters and users, and new directory ids."""
    voters = VoterSet.of(
        initial_voter(node.id, dice.uuid(), VoterEndpoint("CONTROLLER", *node.controller_address))
        for node in layout.nodes
    )
    for place in layout.nodes:
        path = str(place.data_directory)
        format_node(
            SystemDisk(),
            [path],
            metadata_path=path,
            cluster_id=cluster_id,
            node_id=NodeId(place.id),
            voters=voters,
            users=users,
            dice=dice,
            now_ms=SystemClock().now_ms(),
        )


def _places(directory: Path, new: NewCluster, dice: Dice) -> tuple[NodePlace, ...]:
    ports = _client_ports(new, dice)
    controller_ports = free_ports(dice, CONTROLLER_HOST, count=new.nodes, excluding=ports)
    return tuple(
        NodePlace(
            node_id,
            node_folder(directory, node_id),
            Address(new.listen.host, port),
            Address(CONTROLLER_HOST, controller_port),
        )
        for node_id, port, controller_port in zip(
            range(1, new.nodes + 1), ports, controller_ports, strict=True
        )
    )


def _client_ports(new: NewCluster, dice: Dice) -> list[int]:
    host, first = new.listen
    try:
        if first == 0:
            return free_ports(dice, host, count=new.nodes)
        ports = list(range(first, first + new.nodes))
        taken = [port for port in ports if port > PORT_MAX or not is_free(host, port)]
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {host}: {error.strerror or error}.",
            "Give an address of this host with --listen HOST:PORT.",
            exit_code=ExitCode.USAGE,
        ) from None
    if taken:
        raise CommandError(
            f"The nodes would listen on ports {ports[0]} to {ports[-1]}, but these are in use: "
            f"{', '.join(map(str, taken))}.",
            "Choose other ports with --listen HOST:PORT; port 0 means any free ports.",
        )
    return ports


def _validate(properties: Mapping[str, str]) -> None:
    try:
        config = NodeConfig.of(properties)
    except InvalidConfigError as error:
        raise CommandError(error.message, exit_code=ExitCode.USAGE) from None
    for name in config.unknown:
        raise CommandError(f"--set {name}: {unknown_config_text(name)}", exit_code=ExitCode.USAGE)


def _require_empty(directory: Path) -> None:
    if any(directory.glob("node-*")):
        raise CommandError(
            f"{directory} contains a cluster whose creation was interrupted.",
            "Remove the directory, or choose another one with --data-dir.",
            exit_code=ExitCode.USAGE,
        )
