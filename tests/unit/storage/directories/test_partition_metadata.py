from __future__ import annotations

import pytest

from ottla.model import uuid_from_text
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.directories.partition_metadata import (
    read_partition_metadata,
    write_partition_metadata,
)
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.durable_file import read_file, replace_file

TOPIC_ID = uuid_from_text("GkUaGd-PQH-iAZsVcAgoQQ")
PATH = "/orders-0/partition.metadata"


def new_disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/orders-0")
    return disk


def test_topic_id_reads_back_from_kafkas_text() -> None:
    disk = new_disk()
    write_partition_metadata(disk, "/orders-0", TOPIC_ID)
    assert read_file(disk, PATH) == b"version: 0\ntopic_id: GkUaGd-PQH-iAZsVcAgoQQ"
    assert read_partition_metadata(disk, "/orders-0") == TOPIC_ID


def test_directory_without_the_file_has_no_topic_id() -> None:
    assert read_partition_metadata(new_disk(), "/orders-0") is None


@pytest.mark.parametrize(
    "content",
    [
        b"version: 7\ntopic_id: GkUaGd-PQH-iAZsVcAgoQQ\nmore: 1\n",
        b"version:  0\ntopic_id:\tGkUaGd-PQH-iAZsVcAgoQQ\n",
    ],
)
def test_newer_versions_that_begin_alike_are_read(content: bytes) -> None:
    disk = new_disk()
    replace_file(disk, PATH, content)
    assert read_partition_metadata(disk, "/orders-0") == TOPIC_ID


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version: 0",
        b"version: x\ntopic_id: GkUaGd-PQH-iAZsVcAgoQQ",
        b"version: 0\ntopic_id: short",
        b"version: 0\ntopic_id: \xff\xff",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
    ],
)
def test_what_does_not_parse_is_refused(content: bytes) -> None:
    disk = new_disk()
    replace_file(disk, PATH, content)
    with pytest.raises(CorruptCheckpointError, match=f"^{PATH} is corrupt"):
        read_partition_metadata(disk, "/orders-0")
