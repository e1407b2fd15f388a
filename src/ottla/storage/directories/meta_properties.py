"""`meta.properties`: the cluster and node that a log directory belongs to, and its id (KIP-858).

version=1
cluster.id=MkU3OEVBNTcwNTJENDM2Qg
node.id=1
directory.id=ijBXSJ0kQl2PaMBVRoyWvg
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.configs.java_properties import format_properties, parse_properties
from ottla.model import NodeId, Uuid, uuid_from_text, uuid_to_text
from ottla.runtime.disk import Disk
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.checkpoint_file import parse_integer
from ottla.storage.files.durable_file import read_file, replace_file

FILE_NAME: Final = "meta.properties"
VERSION: Final = "1"


class MetaProperties(NamedTuple):
    """The identity of a log directory. Directories formatted before Kafka 3.7 have no directory
    id."""

    cluster_id: str
    node_id: NodeId
    directory_id: Uuid | None


def write_meta_properties(disk: Disk, directory: str, identity: MetaProperties) -> None:
    """Replaces the file, durably."""
    properties = {
        "version": VERSION,
        "cluster.id": identity.cluster_id,
        "node.id": str(identity.node_id),
    }
    if identity.directory_id is not None:
        properties["directory.id"] = uuid_to_text(identity.directory_id)
    content = format_properties(properties).encode()
    replace_file(disk, f"{directory}/{FILE_NAME}", content)


def read_meta_properties(disk: Disk, directory: str) -> MetaProperties | None:
    """The directory's identity, or None if it was never formatted."""
    path = f"{directory}/{FILE_NAME}"
    content = read_file(disk, path)
    if content is None:
        return None
    try:
        return _identity(parse_properties(content.decode()))
    except ValueError as error:
        raise CorruptCheckpointError(
            f"{path} is corrupt: {error}. Correct it by hand, or format the directory again."
        ) from error


def _identity(properties: dict[str, str]) -> MetaProperties:
    version = properties.get("version", "0")
    if version != VERSION:
        raise ValueError(
            f"version {version} is not supported, only {VERSION} (clusters without ZooKeeper)"
        )
    for key in ("cluster.id", "node.id"):
        if key not in properties:
            raise ValueError(f"it has no {key}")
    directory_id = properties.get("directory.id")
    return MetaProperties(
        properties["cluster.id"],
        NodeId(parse_integer(properties["node.id"])),
        None if directory_id is None else uuid_from_text(directory_id),
    )
