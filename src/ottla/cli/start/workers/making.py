"""The directories and property files of a host's workers.

    LOG_DIR/worker-0/                the log directory of worker 0; so in every log directory
    LOG_DIR/workers/                 below the first log directory: what `ottla cluster` reads
    LOG_DIR/workers/node-1/          server.properties and node.log of the worker with node id 1

The properties are written anew with each start, from those that the start was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ottla.broker.control.identity import controller_endpoints
from ottla.cli.client_security.private_file import write_private_file
from ottla.cli.cluster.layout import ClusterLayout, node_folder, node_place
from ottla.cli.cluster.state import initial_state
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs import NodeConfig
from ottla.configs.java_properties import format_properties
from ottla.controller.formatting import format_node, initial_voter, new_cluster_id
from ottla.model import NodeId
from ottla.raft.voters import NO_VOTERS, VoterSet
from ottla.runtime.dice import Dice, SystemDice
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.storage.errors import StorageError


def make_workers(node: NodeConfig, plans: Sequence[Mapping[str, str]]) -> ClusterLayout:
    """Formats the directories that are not formatted yet. Raises CommandError."""
    workers = [NodeConfig.of(plan) for plan in plans]
    _refuse_single_node(node, workers[0])
    try:
        cluster_id = _format(node, workers, SystemDice())
    except (StorageError, OSError) as error:
        raise CommandError(f"Cannot format the workers' directories: {error}") from None
    layout = _layout(node, workers)
    for place, plan in zip(layout.nodes, plans, strict=True):
        place.folder.mkdir(parents=True, exist_ok=True)
        place.properties_file.unlink(missing_ok=True)
        # A colon needs no escape within a value, and the file is easier to read without.
        write_private_file(place.properties_file, format_properties(plan).replace("\\:", ":"))
    initial_state(layout, cluster_id).write(layout.state_file)
    return layout


def _layout(node: NodeConfig, workers: Sequence[NodeConfig]) -> ClusterLayout:
    directory = Path(node.log_dirs[0]).resolve() / "workers"
    places = (node_place(each, node_folder(directory, each.node_id)) for each in workers)
    return ClusterLayout(directory, tuple(places))


def _refuse_single_node(node: NodeConfig, first: NodeConfig) -> None:
    disk = SystemDisk()
    for path, new in zip(node.log_dirs, first.log_dirs, strict=True):
        if read_meta_properties(disk, path) is not None:
            raise CommandError(
                f"{path} belongs to a node that was started without --workers.",
                f"To make it worker 0, stop it and move what is in {path} to {new}; its metadata "
                "and its partitions stay as they are.",
                exit_code=ExitCode.USAGE,
            )


def _format(node: NodeConfig, workers: Sequence[NodeConfig], dice: Dice) -> str:
    """Returns the cluster id."""
    first = workers[0]
    identity = read_meta_properties(SystemDisk(), first.metadata_log_dir)
    if identity is not None and identity.cluster_id is not None:
        cluster_id, voters = identity.cluster_id, NO_VOTERS
    elif node.is_standalone:
        cluster_id = new_cluster_id(dice)
        voter = initial_voter(first.node_id, dice.uuid(), *controller_endpoints(first))
        voters = VoterSet.of([voter])
    else:
        raise CommandError(
            f"{first.metadata_log_dir} is not formatted.",
            "Format it with `ottla format --workers` and the options of a node of this cluster.",
            exit_code=ExitCode.USAGE,
        )
    for worker in workers:
        format_node(
            SystemDisk(),
            worker.log_dirs,
            metadata_path=worker.metadata_log_dir,
            cluster_id=cluster_id,
            node_id=NodeId(worker.node_id),
            voters=voters if worker is first else NO_VOTERS,
            dice=dice,
            now_ms=SystemClock().now_ms(),
        )
    return cluster_id
