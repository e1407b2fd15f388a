"""All directories of a node, formatted for a cluster of several."""

import pytest

from ottla.controller.formatting import format_node, initial_voter
from ottla.controller.snapshot_file import read_snapshot
from ottla.model import NodeId
from ottla.raft.voters import NO_VOTERS, VoterEndpoint, VoterSet
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.directories.meta_properties import MetaProperties, read_meta_properties
from ottla.storage.errors import StorageError
from ottla.wire.stored.quorum import KRaftVersionRecord, VotersRecord
from tests.support.controller.cluster_images import CLUSTER_ID, uuid

VOTERS = VoterSet.of(
    initial_voter(node_id, uuid(node_id), VoterEndpoint("CONTROLLER", f"host-{node_id}", 9093))
    for node_id in (1, 2, 3)
)
BEFORE_THE_LOG = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


def format_two(
    disk: SimulatedDisk,
    *,
    node_id: int = 2,
    cluster_id: str = CLUSTER_ID,
    voters: VoterSet = VOTERS,
) -> MetaProperties:
    return format_node(
        disk,
        ["/a", "/b"],
        metadata_path="/b",
        cluster_id=cluster_id,
        node_id=NodeId(node_id),
        voters=voters,
        dice=SeededDice(1),
        now_ms=5,
    )


def test_a_voters_metadata_directory_has_the_id_that_the_voters_know() -> None:
    disk = SimulatedDisk()
    identity = format_two(disk)
    assert identity == MetaProperties(CLUSTER_ID, NodeId(2), uuid(2))
    assert read_meta_properties(disk, "/b") == identity
    other = read_meta_properties(disk, "/a")
    assert other is not None
    assert other.cluster_id == CLUSTER_ID
    assert other.directory_id not in (None, uuid(2))


def test_the_snapshot_before_the_log_has_every_voter() -> None:
    disk = SimulatedDisk()
    format_two(disk)
    records = [
        record for batch in read_snapshot(disk, f"/b/{BEFORE_THE_LOG}") for record in batch.records
    ]
    (version,) = [record for record in records if isinstance(record, KRaftVersionRecord)]
    (voters,) = [record for record in records if isinstance(record, VotersRecord)]
    assert version.kraft_version == 1
    assert VoterSet.from_record(voters) == VOTERS
    assert not disk.exists(f"/a/{BEFORE_THE_LOG}")


def test_a_node_without_voters_learns_of_them_later() -> None:
    disk = SimulatedDisk()
    identity = format_two(disk, node_id=9, voters=NO_VOTERS)
    assert identity.directory_id is not None
    assert not disk.exists(f"/b/{BEFORE_THE_LOG}")
    assert disk.exists("/b/bootstrap.checkpoint")


def test_formatted_directories_stay_as_they_are() -> None:
    disk = SimulatedDisk()
    identity = format_two(disk)
    other = read_meta_properties(disk, "/a")
    assert format_two(disk, voters=NO_VOTERS) == identity
    assert read_meta_properties(disk, "/a") == other


@pytest.mark.parametrize("owner", [{"node_id": 3}, {"cluster_id": "another"}])
def test_directory_of_another_node_or_cluster_is_refused(owner: dict[str, int | str]) -> None:
    disk = SimulatedDisk()
    format_two(disk)
    with pytest.raises(StorageError, match="belongs to node 2 of cluster"):
        format_two(disk, **owner)  # type: ignore[arg-type]
