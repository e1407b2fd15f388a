"""Whose directories a node finds, and what it makes of empty ones."""

import pytest

from ottla.broker.control.identity import identify
from ottla.configs import NodeConfig
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.directories.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)
from ottla.storage.errors import StorageError
from ottla.storage.files.durable_file import make_directories

MEMBER = {
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "controller.quorum.bootstrap.servers": "localhost:9093",
}


def identify_in(
    disk: SimulatedDisk, *paths: str, properties: dict[str, str] | None = None
) -> MetaProperties:
    config = NodeConfig.of({"log.dirs": ",".join(paths), **(properties or {})})
    for path in paths:
        make_directories(disk, path)
    return identify(disk, paths, config=config, dice=SeededDice(1), now_ms=0)


def test_a_node_that_stands_alone_begins_a_cluster() -> None:
    disk = SimulatedDisk()
    identity = identify_in(disk, "/a", "/b")
    assert identify_in(disk, "/a", "/b") == identity == read_meta_properties(disk, "/a")
    other = read_meta_properties(disk, "/b")
    assert other is not None
    assert other.directory_id != identity.directory_id


def test_a_directory_that_joins_is_taken_in() -> None:
    disk = SimulatedDisk()
    identity = identify_in(disk, "/a")
    assert identify_in(disk, "/a", "/b") == identity
    assert read_meta_properties(disk, "/b") is not None


def test_a_directory_without_an_id_gets_one() -> None:
    disk = SimulatedDisk()
    identity = identify_in(disk, "/a")
    write_meta_properties(disk, "/a", identity._replace(directory_id=None))
    found = identify_in(disk, "/a")
    assert found.directory_id is not None
    assert read_meta_properties(disk, "/a") == found


@pytest.mark.parametrize(
    ("properties", "advice"),
    [
        (MEMBER, "--initial-controllers"),
        (MEMBER | {"controller.quorum.voters": "1@a:9093,2@b:9093"}, "--cluster-id ID` with"),
        (
            MEMBER | {"process.roles": "broker", "listeners": "PLAINTEXT://:9092"},
            "--cluster-id ID` with",
        ),
    ],
)
def test_a_node_of_a_cluster_is_formatted_by_a_person(
    properties: dict[str, str], advice: str
) -> None:
    disk = SimulatedDisk()
    with pytest.raises(StorageError, match="ottla format") as refused:
        identify_in(disk, "/a", properties=properties)
    assert advice in str(refused.value)
    assert read_meta_properties(disk, "/a") is None


def test_metadata_that_is_gone_is_not_begun_anew() -> None:
    disk = SimulatedDisk()
    identify_in(disk, "/a")
    with pytest.raises(StorageError, match="to the directories that the node had before"):
        identify_in(disk, "/new", "/a")


def test_another_nodes_directory_is_refused() -> None:
    disk = SimulatedDisk()
    identify_in(disk, "/a")
    with pytest.raises(StorageError, match=r"start it with node\.id=1"):
        identify_in(disk, "/a", properties={"node.id": "2"})


def test_directories_of_two_clusters_are_refused() -> None:
    disk = SimulatedDisk()
    identity = identify_in(disk, "/a")
    make_directories(disk, "/b")
    write_meta_properties(disk, "/b", identity._replace(cluster_id="another"))
    with pytest.raises(StorageError, match="must belong to the same cluster"):
        identify_in(disk, "/a", "/b")
