"""Formats empty directories for a node of a cluster, like `kafka-storage format`.

A cluster starts with its first controllers: each has the initial voters in its directory (KIP-853).
A node that joins later is formatted without voters and learns them from the quorum; so is a node
whose voters are static (`controller.quorum.voters`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.controller.bootstrap import bootstrap_snapshot
from ottla.controller.metadata_log import METADATA_PARTITION
from ottla.controller.snapshot_file import BOOTSTRAP_SNAPSHOT, Snapshot, SnapshotVoters
from ottla.metadata.features import INITIAL_LEVELS, KRAFT_VERSION_LEVEL, METADATA_VERSION
from ottla.model import NodeId, Uuid, uuid_to_text
from ottla.raft.config import SUPPORTED_KRAFT_VERSIONS
from ottla.raft.voters import NO_VOTERS, ReplicaKey, Voter, VoterEndpoint, VoterSet
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.storage.directories.foreign_files import refuse_foreign_files
from ottla.storage.directories.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)
from ottla.storage.errors import StorageError
from ottla.storage.files.durable_file import make_directories
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord


def new_cluster_id(dice: Dice) -> str:
    return uuid_to_text(dice.uuid())


def initial_voter(node_id: int, directory_id: Uuid, *endpoints: VoterEndpoint) -> Voter:
    """One of the initial controllers of a cluster."""
    return Voter(ReplicaKey(node_id, directory_id), endpoints, SUPPORTED_KRAFT_VERSIONS)


def format_node(
    disk: Disk,
    paths: Sequence[str],
    *,
    metadata_path: str,
    cluster_id: str,
    node_id: NodeId,
    voters: VoterSet,
    users: Sequence[UserScramCredentialRecord] = (),
    dice: Dice,
    now_ms: int,
) -> MetaProperties:
    """Formats those directories of a node that are not formatted yet; returns the meta.properties
    of the metadata directory.

    The metadata directory of a voter gets the directory id from the voter set, all others get new
    ids. The first active controller writes `users` into the empty log. Raises `StorageError`,
    before anything is written, for a directory that belongs to another node or cluster, or that
    contains files which are not Kafka's.
    """
    every_path = tuple(dict.fromkeys([metadata_path, *paths]))
    found = {path: read_meta_properties(disk, path) for path in every_path}
    for path, other in found.items():
        if other is not None and (other.cluster_id, other.node_id) != (cluster_id, node_id):
            raise StorageError(
                f"{path} belongs to node {other.node_id} of cluster {other.cluster_id}; empty it "
                "to reuse it, which deletes its data"
            )
    refuse_foreign_files(disk, every_path)
    voter = voters.get(node_id)
    # The metadata directory first: after a crash, formatting again completes the others.
    identity = found[metadata_path] or format_directory(
        disk,
        metadata_path,
        cluster_id=cluster_id,
        node_id=node_id,
        directory_id=dice.uuid() if voter is None else voter.key.directory_id,
        voters=voters,
        users=users,
        now_ms=now_ms,
    )
    for path in every_path:
        if path != metadata_path and found[path] is None:
            make_directories(disk, path)
            write_meta_properties(disk, path, identity._replace(directory_id=dice.uuid()))
    return identity


def format_directory(
    disk: Disk,
    directory: str,
    *,
    cluster_id: str,
    node_id: NodeId,
    directory_id: Uuid,
    voters: VoterSet = NO_VOTERS,
    users: Sequence[UserScramCredentialRecord] = (),
    now_ms: int,
) -> MetaProperties:
    """Formats a directory for the metadata log of a node, durably.

    meta.properties is written last: a directory without it is not formatted, whatever else it
    contains.
    """
    voter = voters.get(node_id)
    assert voter is None or voter.key.directory_id == directory_id, (
        "the voters have another directory id"
    )
    make_directories(disk, directory)
    if read_meta_properties(disk, directory) is not None:
        raise StorageError(
            f"{directory} is formatted already; empty it to format it again, which deletes its data"
        )
    bootstrap_snapshot(disk, directory, users=users, now_ms=now_ms).write()
    if voters.voters:
        _voters_snapshot(disk, directory, voters, now_ms).write()
    identity = MetaProperties(cluster_id, node_id, directory_id)
    write_meta_properties(disk, directory, identity)
    return identity


def _voters_snapshot(disk: Disk, directory: str, voters: VoterSet, now_ms: int) -> Snapshot:
    """The snapshot before the first record of the log: it contains the initial voters."""
    path = f"{directory}/{METADATA_PARTITION}"
    make_directories(disk, path)
    return Snapshot(
        disk=disk,
        path=f"{path}/{BOOTSTRAP_SNAPSHOT.file_name}",
        id=BOOTSTRAP_SNAPSHOT,
        records=(),
        metadata_version=INITIAL_LEVELS[METADATA_VERSION],
        voters=SnapshotVoters(KRAFT_VERSION_LEVEL, voters.to_record()),
        last_contained_log_timestamp=now_ms,
        now_ms=now_ms,
    )
