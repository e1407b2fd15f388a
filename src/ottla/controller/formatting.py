"""An empty directory made into one of a cluster, as `kafka-storage format --standalone` does it."""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.controller.bootstrap import bootstrap_snapshot
from ottla.controller.metadata_log import METADATA_PARTITION
from ottla.controller.snapshot_file import BOOTSTRAP_SNAPSHOT, QuorumVoters, Snapshot
from ottla.metadata.features import (
    INITIAL_LEVELS,
    KRAFT_VERSION,
    KRAFT_VERSION_LEVEL,
    METADATA_VERSION,
    SUPPORTED_FEATURES,
)
from ottla.model import NodeId, Uuid, uuid_to_text
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.storage.durable_file import make_directories
from ottla.storage.errors import StorageError
from ottla.storage.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)
from ottla.wire.stored.quorum import (
    Endpoint,
    KRaftVersionFeature,
    VotersRecord,
    VotersRecordVoter,
)

DEFAULT_CONTROLLER_LISTENER: Final = "CONTROLLER"


class ControllerEndpoint(NamedTuple):
    """Where the quorum's other nodes, and tools, reach this one's controller."""

    host: str
    port: int
    listener: str = DEFAULT_CONTROLLER_LISTENER


def new_cluster_id(dice: Dice) -> str:
    return uuid_to_text(dice.uuid())


def format_directory(
    disk: Disk,
    directory: str,
    *,
    cluster_id: str,
    node_id: NodeId,
    directory_id: Uuid,
    controller: ControllerEndpoint,
    now_ms: int,
) -> MetaProperties:
    """Makes a directory the home of a new cluster's only node, durably.

    The identity is written last: a directory without it is not formatted, whatever else is there.
    """
    make_directories(disk, directory)
    if read_meta_properties(disk, directory) is not None:
        raise StorageError(
            f"{directory} is formatted already; empty it to format it anew, which loses its data"
        )
    bootstrap_snapshot(disk, directory, now_ms=now_ms).write()
    _voters_snapshot(disk, directory, node_id, directory_id, controller, now_ms).write()
    identity = MetaProperties(cluster_id, node_id, directory_id)
    write_meta_properties(disk, directory, identity)
    return identity


def _voters_snapshot(
    disk: Disk,
    directory: str,
    node_id: NodeId,
    directory_id: Uuid,
    controller: ControllerEndpoint,
    now_ms: int,
) -> Snapshot:
    """The snapshot before the first record of the log: who votes."""
    path = f"{directory}/{METADATA_PARTITION}"
    make_directories(disk, path)
    low, high = SUPPORTED_FEATURES[KRAFT_VERSION]
    endpoint = Endpoint(name=controller.listener, host=controller.host, port=controller.port)
    voter = VotersRecordVoter(
        voter_id=node_id,
        voter_directory_id=directory_id,
        endpoints=[endpoint],
        kraft_version_feature=KRaftVersionFeature(
            min_supported_version=low, max_supported_version=high
        ),
    )
    return Snapshot(
        disk=disk,
        path=f"{path}/{BOOTSTRAP_SNAPSHOT.file_name}",
        id=BOOTSTRAP_SNAPSHOT,
        records=(),
        metadata_version=INITIAL_LEVELS[METADATA_VERSION],
        voters=QuorumVoters(KRAFT_VERSION_LEVEL, VotersRecord(voters=[voter])),
        last_contained_log_timestamp=now_ms,
        now_ms=now_ms,
    )
