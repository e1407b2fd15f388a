"""`ottla quorum` at work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ottla.broker.control.identity import controller_endpoints
from ottla.cli.arguments.input_file import unreadable
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.bootstrap_addresses import address_text
from ottla.cli.display.cells import NOTHING, number
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.administration.quorum import DescribedQuorum
from ottla.configs import InvalidConfigError, NodeConfig
from ottla.controller.formatting import initial_voter
from ottla.controller.initial_controllers import parse_initial_controllers
from ottla.model import Uuid, uuid_from_text, uuid_to_text
from ottla.raft.voters import Voter
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.storage.errors import StorageError

DEFAULT_LISTENER: Final = "CONTROLLER"
# The new voter may first have to catch up.
_ADD_TIMEOUT_S: Final = 40.0


async def show_quorum(admin: Admin, terminal: Terminal, *, as_json: bool) -> None:
    with doing("describe the quorum"):
        quorum = await admin.describe_quorum()
    if as_json:
        _print_json(terminal, quorum)
        return
    terminal.stdout.print(
        f"leader {quorum.leader_id}, epoch {quorum.leader_epoch}, "
        f"high watermark {quorum.high_watermark:,}"
    )
    now_ms = SystemClock().now_ms()
    numbers = ("node", "log end", "lag", "fetched", "caught up")
    table = new_table(
        *("node", "role", "log end", "lag", "fetched", "caught up", "directory", "address"),
        right=numbers,
    )
    for replica in quorum.replicas:
        table.add_row(
            str(replica.id),
            replica.role,
            number(replica.log_end_offset),
            f"{replica.lag:,}",
            NOTHING if replica.is_leader else _ago(replica.last_fetch_ms, now_ms),
            NOTHING if replica.is_leader else _ago(replica.last_caught_up_ms, now_ms),
            replica.directory_id_text or NOTHING,
            _addresses_text(quorum.addresses.get(replica.id, {})) or NOTHING,
        )
    terminal.stdout.print(table)


def named_voter(controller: str | None, config: Path | None) -> Voter:
    """From ID@HOST:PORT:DIRECTORY-ID, or from the files of the node itself."""
    if (controller is None) == (config is None):
        raise _usage("Name the controller as ID@HOST:PORT:DIRECTORY-ID, or with --config FILE.")
    if controller is not None:
        try:
            voters = parse_initial_controllers(controller, listener_name=DEFAULT_LISTENER)
        except ValueError as error:
            raise _usage(f"{error}.") from None
        if len(voters.voters) > 1:
            raise _usage("The quorum takes one voter at a time: name one.")
        return voters.voters[0]
    assert config is not None
    return _voter_of(config)


async def add_voter(admin: Admin, terminal: Terminal, voter: Voter) -> None:
    endpoints = {name: Address(host, port) for name, host, port in voter.endpoints}
    with doing(f"add voter {voter.key.id}"):
        await admin.add_voter(
            voter.key.id, voter.key.directory_id, endpoints, timeout=_ADD_TIMEOUT_S
        )
    directory = uuid_to_text(voter.key.directory_id)
    terminal.stdout.print(
        f"node {voter.key.id} is a voter now (directory {directory})", markup=False
    )


async def remove_voter(
    admin: Admin, terminal: Terminal, node_id: int, *, directory_id: str | None
) -> None:
    found = await _directory_of(admin, node_id) if directory_id is None else _parse_id(directory_id)
    with doing(f"remove voter {node_id}"):
        await admin.remove_voter(node_id, found)
    terminal.stdout.print(f"node {node_id} is no longer a voter", markup=False)


async def _directory_of(admin: Admin, node_id: int) -> Uuid:
    with doing("describe the quorum"):
        quorum = await admin.describe_quorum()
    for replica in quorum.replicas:
        if replica.is_voter and replica.id == node_id:
            return replica.directory_id
    voters = ", ".join(str(replica.id) for replica in quorum.replicas if replica.is_voter)
    raise CommandError(f"Node {node_id} is not a voter; the voters are {voters}.")


def _voter_of(file: Path) -> Voter:
    try:
        node = NodeConfig.from_properties(file.read_text("latin-1"))
    except OSError as error:
        remedy = "give --config the path of the controller's server.properties"
        raise unreadable(file, error, remedy=remedy) from None
    except InvalidConfigError as error:
        raise _usage(f"{file}: {error.message}") from None
    try:
        identity = read_meta_properties(SystemDisk(), node.metadata_log_dir)
    except OSError as error:
        remedy = "run this command on the controller's host, as the user of its node"
        raise unreadable(node.metadata_log_dir, error, remedy=remedy) from None
    except StorageError as error:
        raise CommandError(str(error)) from None
    if not node.is_controller:
        raise _usage(f"{file}: process.roles of node {node.node_id} does not contain controller.")
    if identity is None or identity.directory_id is None:
        raise CommandError(
            f"{node.metadata_log_dir} is not formatted.",
            "Format it with `ottla format --no-initial-controllers`, and start the node first.",
        )
    return initial_voter(node.node_id, identity.directory_id, *controller_endpoints(node))


def _parse_id(text: str) -> Uuid:
    try:
        return uuid_from_text(text)
    except ValueError:
        raise _usage(f"{text!r} is not a directory id; `ottla quorum status` shows them.") from None


def _print_json(terminal: Terminal, quorum: DescribedQuorum) -> None:
    terminal.print_json(
        {
            "leader": quorum.leader_id,
            "epoch": quorum.leader_epoch,
            "high_watermark": quorum.high_watermark,
            "replicas": [
                {
                    "node": replica.id,
                    "role": replica.role,
                    "directory_id": replica.directory_id_text,
                    "log_end_offset": replica.log_end_offset,
                    "lag": replica.lag,
                    "last_fetch_ms": replica.last_fetch_ms,
                    "last_caught_up_ms": replica.last_caught_up_ms,
                    "addresses": {
                        name: address_text(address)
                        for name, address in quorum.addresses.get(replica.id, {}).items()
                    },
                }
                for replica in quorum.replicas
            ],
        }
    )


def _addresses_text(addresses: Mapping[str, Address]) -> str:
    """Listeners are named only where there are several."""
    if len(addresses) == 1:
        return ", ".join(map(address_text, addresses.values()))
    return ", ".join(f"{name}://{address_text(address)}" for name, address in addresses.items())


def _ago(timestamp_ms: int | None, now_ms: int) -> str:
    return "never" if timestamp_ms is None else f"{max(now_ms - timestamp_ms, 0) / 1_000:.1f} s ago"


def _usage(message: str) -> CommandError:
    return CommandError(message, exit_code=ExitCode.USAGE)
