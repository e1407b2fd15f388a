"""Runs `ottla format`, by the rules of Kafka's own `kafka-storage format`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ottla.broker.control.identity import controller_endpoints
from ottla.cli.arguments.input_file import unreadable
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.format.scram import scram_records
from ottla.cli.start.workers.plan import plan_workers
from ottla.configs import InvalidConfigError, NodeConfig
from ottla.controller.formatting import format_node, initial_voter, new_cluster_id
from ottla.controller.initial_controllers import parse_initial_controllers
from ottla.model import NodeId
from ottla.raft.voters import NO_VOTERS, VoterSet
from ottla.runtime.dice import Dice, SystemDice
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.storage.errors import StorageError


@dataclass(frozen=True, slots=True)
class Formatting:
    """The options of the command line."""

    config: Path | None
    cluster_id: str | None
    standalone: bool
    initial_controllers: str | None
    no_initial_controllers: bool
    ignore_formatted: bool
    is_worker: bool
    add_scram: tuple[str, ...] = field(default=(), repr=False)


def print_new_id() -> None:
    print(new_cluster_id(SystemDice()))


def format_directories(terminal: Terminal, formatting: Formatting) -> None:
    if formatting.config is None or formatting.cluster_id is None:
        missing = "--config FILE" if formatting.config is None else "--cluster-id ID"
        raise _usage(
            f"{missing} is missing.",
            "`ottla format --new-cluster-id` generates an id for a cluster.",
        )
    node = read_node_config(formatting.config, is_worker=formatting.is_worker)
    dice = SystemDice()
    users = scram_records(formatting.add_scram, dice)
    voters = chosen_voters(formatting, node, dice)
    directories = tuple(dict.fromkeys([node.metadata_log_dir, *node.log_dirs]))
    disk = SystemDisk()
    try:
        unformatted = [path for path in directories if read_meta_properties(disk, path) is None]
        _refuse_formatted(formatting, [path for path in directories if path not in unformatted])
        format_node(
            disk,
            node.log_dirs,
            metadata_path=node.metadata_log_dir,
            cluster_id=formatting.cluster_id,
            node_id=NodeId(node.node_id),
            voters=voters,
            users=users,
            dice=dice,
            now_ms=SystemClock().now_ms(),
        )
    except (StorageError, OSError) as error:
        raise CommandError(f"Cannot format: {error}") from None
    _report(terminal, formatting.cluster_id, node, unformatted)


def read_node_config(path: Path, *, is_worker: bool) -> NodeConfig:
    """The node's config, or that of its worker 0."""
    try:
        node = NodeConfig.from_properties(path.read_text("latin-1"))
        return NodeConfig.of(plan_workers(node.layers.static, 1)[0]) if is_worker else node
    except OSError as error:
        remedy = "give --config the path of the node's server.properties"
        raise unreadable(path, error, remedy=remedy) from None
    except InvalidConfigError as error:
        raise _usage(f"{path}: {error.message}") from None


def chosen_voters(formatting: Formatting, node: NodeConfig, dice: Dice) -> VoterSet:
    chosen = [
        option
        for option, is_chosen in (
            ("--standalone", formatting.standalone),
            ("--initial-controllers", formatting.initial_controllers is not None),
            ("--no-initial-controllers", formatting.no_initial_controllers),
        )
        if is_chosen
    ]
    if len(chosen) > 1:
        raise _usage(f"{' and '.join(chosen)} contradict each other: choose one.")
    if chosen and node.controller_quorum_voters and not formatting.no_initial_controllers:
        raise _usage(
            f"{chosen[0]} is for quorums whose voters can change, but controller.quorum.voters "
            "names a fixed list of voters.",
            "Leave out the option, or use controller.quorum.bootstrap.servers instead.",
        )
    if formatting.standalone:
        return _alone(node, dice)
    if formatting.initial_controllers is not None:
        return _initial_controllers(formatting.initial_controllers, node)
    if not chosen and node.is_controller and not node.controller_quorum_voters:
        raise _usage(
            f"Node {node.node_id} is a controller: name the first controllers of its cluster.",
            "Use --standalone if it is the only one, --initial-controllers if a new cluster has "
            "several, --no-initial-controllers if it joins a cluster.",
        )
    return NO_VOTERS


def _alone(node: NodeConfig, dice: Dice) -> VoterSet:
    if not node.is_controller:
        raise _usage(
            "--standalone is for controllers, but process.roles of this node does not "
            "contain controller."
        )
    return VoterSet.of([initial_voter(node.node_id, dice.uuid(), *controller_endpoints(node))])


def _initial_controllers(text: str, node: NodeConfig) -> VoterSet:
    listener_name = node.listeners.controller_names[0]
    try:
        return parse_initial_controllers(text, listener_name=listener_name)
    except ValueError as error:
        raise _usage(f"--initial-controllers: {error}.") from None


def _refuse_formatted(formatting: Formatting, formatted: list[str]) -> None:
    if formatted and not formatting.ignore_formatted:
        raise CommandError(
            f"Formatted already: {', '.join(formatted)}.",
            "Skip such directories with --ignore-formatted, or empty them, which deletes their "
            "data.",
        )


def _report(terminal: Terminal, cluster_id: str, node: NodeConfig, unformatted: list[str]) -> None:
    for path in unformatted:
        what = "metadata directory" if path == node.metadata_log_dir else "data directory"
        terminal.stdout.print(
            f"formatted {what} {path} for node {node.node_id} of cluster {cluster_id}",
            markup=False,
            soft_wrap=True,
        )
    if not unformatted:
        terminal.notice("All directories are formatted already.")


def _usage(message: str, *hints: str) -> CommandError:
    return CommandError(message, *hints, exit_code=ExitCode.USAGE)
