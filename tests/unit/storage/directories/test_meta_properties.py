from __future__ import annotations

import pytest

from ottla.model import NodeId, uuid_from_text
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.directories.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.durable_file import read_file, replace_file

PATH = "/logs/meta.properties"
DIRECTORY_ID = uuid_from_text("ijBXSJ0kQl2PaMBVRoyWvg")
IDENTITY = MetaProperties("MkU3OEVBNTcwNTJENDM2Qg", NodeId(1), DIRECTORY_ID)


def disk_with(content: bytes | None = None) -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/logs")
    if content is not None:
        replace_file(disk, PATH, content)
    return disk


@pytest.mark.parametrize("identity", [IDENTITY, IDENTITY._replace(directory_id=None)])
def test_identity_reads_back(identity: MetaProperties) -> None:
    disk = disk_with()
    write_meta_properties(disk, "/logs", identity)
    assert read_meta_properties(disk, "/logs") == identity


def test_file_has_kafkas_properties() -> None:
    disk = disk_with()
    write_meta_properties(disk, "/logs", IDENTITY)
    assert read_file(disk, PATH) == (
        b"cluster.id=MkU3OEVBNTcwNTJENDM2Qg\n"
        b"directory.id=ijBXSJ0kQl2PaMBVRoyWvg\n"
        b"node.id=1\n"
        b"version=1\n"
    )


def test_directory_that_was_never_formatted_has_no_identity() -> None:
    assert read_meta_properties(disk_with(), "/logs") is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "version 0 is not supported, only 1"),
        (b"version=0\nbroker.id=1\n", "version 0 is not supported, only 1"),
        (b"version=1\nnode.id=1\n", "it has no cluster.id"),
        (b"version=1\ncluster.id=c\n", "it has no node.id"),
        (b"version=1\ncluster.id=c\nnode.id=one\n", "'one' is not an integer"),
        (b"version=1\ncluster.id=c\nnode.id=1\ndirectory.id=x\n", "not a Kafka UUID"),
        (b"version=1\ncluster.id=\xff\n", "can't decode"),
    ],
)
def test_what_does_not_say_who_it_belongs_to_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(CorruptCheckpointError, match=reason):
        read_meta_properties(disk_with(content), "/logs")
