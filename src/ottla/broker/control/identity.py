"""The identity of a node's directories: read, created for a new cluster, or rejected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ottla.configs import NodeConfig
from ottla.controller.formatting import format_node, initial_voter, new_cluster_id
from ottla.model import NodeId
from ottla.raft.voters import VoterEndpoint, VoterSet
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.storage.directories.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)
from ottla.storage.errors import StorageError

# The endpoint of a standalone node in its voter set. No other node connects to it.
_UNUSED_ADDRESS: Final = ("localhost", 0)


def identify(
    disk: Disk, paths: Sequence[str], *, config: NodeConfig, dice: Dice, now_ms: int
) -> MetaProperties:
    """The identity of the node's metadata log directory.

    If no directory is formatted and the node is standalone, formats them all for a new cluster. An
    unformatted directory beside formatted ones is added to the node. A directory of another cluster
    or node is rejected. Raises `StorageError`, whose message says what to do.
    """
    metadata_path = config.metadata_log_dir
    every_path = tuple(dict.fromkeys([metadata_path, *paths]))
    found = {path: read_meta_properties(disk, path) for path in every_path}
    known = [(path, each) for path, each in found.items() if each is not None]
    for path, each in known:
        _require_ours(path, each, known[0], config.node_id)
    identity = found[metadata_path]
    if identity is None:
        if known:
            raise StorageError(
                f"{known[0][0]} belongs to a cluster, but {metadata_path}, which should contain "
                "the metadata log, is empty; set log.dirs and metadata.log.dir to the "
                "directories that the node had before"
            )
        return _begin_cluster(disk, every_path, config=config, dice=dice, now_ms=now_ms)
    if identity.directory_id is None:
        identity = identity._replace(directory_id=dice.uuid())
        write_meta_properties(disk, metadata_path, identity)
    for path in every_path:
        if found[path] is None:
            write_meta_properties(disk, path, identity._replace(directory_id=dice.uuid()))
    return identity


def controller_endpoints(config: NodeConfig) -> tuple[VoterEndpoint, ...]:
    """This controller's endpoints for other nodes, from its advertised listeners. Others connect to
    the first of their own controller.listener.names."""
    advertised = config.listeners.advertised_controller
    if not advertised:
        return (VoterEndpoint(config.listeners.controller_names[0], *_UNUSED_ADDRESS),)
    return tuple(
        VoterEndpoint(each.name, each.host or "localhost", each.port) for each in advertised
    )


def _begin_cluster(
    disk: Disk, paths: Sequence[str], *, config: NodeConfig, dice: Dice, now_ms: int
) -> MetaProperties:
    if not config.is_standalone:
        raise StorageError(_how_to_format(config))
    voter = initial_voter(config.node_id, dice.uuid(), *controller_endpoints(config))
    return format_node(
        disk,
        paths,
        metadata_path=config.metadata_log_dir,
        cluster_id=new_cluster_id(dice),
        node_id=NodeId(config.node_id),
        voters=VoterSet.of([voter]),
        dice=dice,
        now_ms=now_ms,
    )


def _how_to_format(config: NodeConfig) -> str:
    """The error text for an unformatted node. The operator must format it explicitly: two nodes
    that formatted themselves would form two clusters."""
    command = "ottla format --config FILE --cluster-id ID"
    unformatted = (
        f"{config.metadata_log_dir} is not formatted, but node {config.node_id} is one of several "
        "nodes of a cluster"
    )
    if not config.is_controller or config.controller_quorum_voters:
        return f"{unformatted}: run `{command}` with the cluster's id, which all nodes share"
    return (
        f"{unformatted}: run `{command}` with the cluster's id, which all nodes share, and "
        "--initial-controllers if it is one of a new cluster's controllers, --standalone if it is "
        "the only one, or --no-initial-controllers if it joins others"
    )


def _require_ours(
    path: str, identity: MetaProperties, first: tuple[str, MetaProperties], node_id: int
) -> None:
    if identity.cluster_id != first[1].cluster_id:
        raise StorageError(
            f"{path} belongs to cluster {identity.cluster_id} and {first[0]} to cluster "
            f"{first[1].cluster_id}; all directories of a node must belong to the same cluster"
        )
    if identity.node_id != node_id:
        raise StorageError(
            f"{path} belongs to node {identity.node_id}, but this is node {node_id}; start it "
            f"with node.id={identity.node_id} or choose another directory"
        )
