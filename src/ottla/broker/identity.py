"""Whose directories these are: found, made for a new cluster, or refused."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.controller.formatting import ControllerEndpoint, format_directory, new_cluster_id
from ottla.model import NodeId
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.storage.errors import StorageError
from ottla.storage.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)


def identify(
    disk: Disk,
    paths: Sequence[str],
    *,
    metadata_path: str,
    node_id: NodeId,
    controller: ControllerEndpoint,
    dice: Dice,
    now_ms: int,
) -> str:
    """The id of the cluster that these directories belong to.

    Where none is formatted, they become those of a new cluster. A directory that joins formatted
    ones is taken in; one that belongs to another cluster or node is refused.
    """
    every_path = dict.fromkeys([metadata_path, *paths])
    found = {path: read_meta_properties(disk, path) for path in every_path}
    known = [(path, identity) for path, identity in found.items() if identity is not None]
    for path, identity in known:
        _require_ours(path, identity, known[0], node_id)
    if found[metadata_path] is None:
        if known:
            raise StorageError(
                f"{known[0][0]} belongs to a cluster, and {metadata_path}, where its metadata "
                "should be, is empty; name all of the node's directories as they were"
            )
        format_directory(
            disk,
            metadata_path,
            cluster_id=new_cluster_id(dice),
            node_id=node_id,
            directory_id=dice.uuid(),
            controller=controller,
            now_ms=now_ms,
        )
    first = read_meta_properties(disk, metadata_path)
    assert first is not None, "it was formatted above"
    for path in every_path:
        if found[path] is None and path != metadata_path:
            write_meta_properties(disk, path, first._replace(directory_id=dice.uuid()))
    return first.cluster_id


def _require_ours(
    path: str, identity: MetaProperties, first: tuple[str, MetaProperties], node_id: NodeId
) -> None:
    if identity.cluster_id != first[1].cluster_id:
        raise StorageError(
            f"{path} belongs to cluster {identity.cluster_id} and {first[0]} to cluster "
            f"{first[1].cluster_id}; a node's directories belong to one"
        )
    if identity.node_id != node_id:
        raise StorageError(
            f"{path} belongs to node {identity.node_id}, and this is node {node_id}; "
            f"start it with node.id={identity.node_id} or give it a directory of its own"
        )
