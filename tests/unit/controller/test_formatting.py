"""A formatted directory, byte by byte as far as Kafka's own is not made of ids and times."""

from contextlib import suppress
from pathlib import Path

import pytest

from ottla.controller.bootstrap import read_bootstrap_records
from ottla.controller.formatting import new_cluster_id
from ottla.controller.metadata_log import MetadataLogConfig
from ottla.controller.metadata_log_loading import open_metadata_log
from ottla.model import NodeId, uuid_from_text
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.directories.meta_properties import MetaProperties, read_meta_properties
from ottla.storage.errors import StorageError
from ottla.storage.files.durable_file import read_file
from ottla.wire.stored.quorum import KRaftVersionRecord, VotersRecord
from tests.support.controller.cluster_images import CLUSTER_ID, features, uuid
from tests.support.controller.simulated_controllers import DIRECTORY, World
from tests.support.kafka.kafka_fixtures import extract


def test_directory_has_the_ids_of_its_node_and_cluster() -> None:
    world = World()
    assert read_meta_properties(world.disk, DIRECTORY) == MetaProperties(
        CLUSTER_ID, NodeId(1), uuid(501)
    )


def test_first_records_are_the_features() -> None:
    assert list(read_bootstrap_records(World().disk, DIRECTORY)) == features()


def test_directory_without_bootstrap_records_gets_the_same_features() -> None:
    world = World()
    world.disk.remove(f"{DIRECTORY}/bootstrap.checkpoint")
    assert list(read_bootstrap_records(world.disk, DIRECTORY)) == features()


def test_snapshot_before_the_log_says_who_votes() -> None:
    world = World()
    loaded = open_metadata_log(world.disk, DIRECTORY, MetadataLogConfig(), now_ms=0)
    version, voters = (record.record for record in loaded.control_records[1:3])
    assert isinstance(version, KRaftVersionRecord)
    assert isinstance(voters, VotersRecord)
    (voter,) = voters.voters
    assert (voter.voter_id, voter.voter_directory_id) == (1, uuid(501))
    assert [(each.host, each.port) for each in voter.endpoints] == [("localhost", 9093)]
    assert version.kraft_version == 1
    assert loaded.committed.image.is_empty


def test_files_are_as_long_as_kafkas(tmp_path: Path) -> None:
    kafka = extract("clean", tmp_path)
    world = World()
    for name in (
        "bootstrap.checkpoint",
        "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint",
    ):
        assert world.disk.file_size(f"{DIRECTORY}/{name}") == (kafka / name).stat().st_size


def test_kafkas_own_bootstrap_records_are_read(tmp_path: Path) -> None:
    kafka = extract("clean", tmp_path)
    assert list(read_bootstrap_records(SystemDisk(), str(kafka))) == features()


def test_formatted_directory_is_not_formatted_again() -> None:
    world = World()
    before = read_file(world.disk, f"{DIRECTORY}/meta.properties")
    with pytest.raises(StorageError, match="formatted already"):
        world.format()
    assert read_file(world.disk, f"{DIRECTORY}/meta.properties") == before


@pytest.mark.parametrize("seed", range(60))
def test_directory_is_formatted_wholly_or_not_at_all(seed: int) -> None:
    dice = SeededDice(seed)
    world = World(is_formatted=False)
    world.disk.faults.power_off_after(dice.below(25))
    with suppress(PowerLost):
        world.format()
    world.disk.crash(dice)
    if not world.disk.exists(DIRECTORY) or read_meta_properties(world.disk, DIRECTORY) is None:
        world.format()
    assert list(read_bootstrap_records(world.disk, DIRECTORY)) == features()
    loaded = open_metadata_log(world.disk, DIRECTORY, MetadataLogConfig(), now_ms=0)
    assert any(isinstance(each.record, VotersRecord) for each in loaded.control_records)


def test_cluster_ids_are_uuids_by_chance() -> None:
    dice = SeededDice(1)
    first, second = new_cluster_id(dice), new_cluster_id(dice)
    assert first != second
    assert uuid_from_text(first)
