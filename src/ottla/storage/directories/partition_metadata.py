"""`partition.metadata`: the topic id of a partition's directory.

    version: 0
    topic_id: GkUaGd-PQH-iAZsVcAgoQQ

A topic that is deleted and created again has the same name and a new id.
"""

from __future__ import annotations

import re
from typing import Final

from ottla.model import ZERO_UUID, Uuid, uuid_from_text, uuid_to_text
from ottla.runtime.disk import Disk
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.durable_file import read_file, replace_file
from ottla.storage.files.rewriting import sync_file

FILE_NAME: Final = "partition.metadata"
VERSION: Final = 0

# Newer versions are accepted, as in Kafka, if they begin with the same two lines.
_CONTENT: Final = re.compile(rb"version:\s+(?P<version>[0-9]+)\ntopic_id:\s+(?P<id>\S+)(?s:\n.*)?")


def write_partition_metadata(disk: Disk, directory: str, topic_id: Uuid) -> None:
    """Replaces the file, durably."""
    replace_file(disk, f"{directory}/{FILE_NAME}", _content(directory, topic_id))


def begin_partition_metadata(disk: Disk, directory: str, topic_id: Uuid) -> None:
    """Writes the file of a new directory; `sync_partition_metadata` then makes it durable."""
    file = disk.open(f"{directory}/{FILE_NAME}", create=True)
    try:
        file.write_at(0, [_content(directory, topic_id)])
    finally:
        file.close()


def sync_partition_metadata(disk: Disk, directory: str) -> None:
    file = disk.open(f"{directory}/{FILE_NAME}")
    try:
        sync_file(file)
    finally:
        file.close()


def _content(directory: str, topic_id: Uuid) -> bytes:
    assert topic_id != ZERO_UUID, f"{directory} has no topic id"
    return f"version: {VERSION}\ntopic_id: {uuid_to_text(topic_id)}".encode()


def read_partition_metadata(disk: Disk, directory: str) -> Uuid | None:
    """The topic's id, or None if there is no file."""
    path = f"{directory}/{FILE_NAME}"
    content = read_file(disk, path)
    if content is None:
        return None
    match = _CONTENT.fullmatch(content)
    if match is None:
        raise _corrupt(path, "it has no line for the version and none for the topic id")
    try:
        topic_id = uuid_from_text(match["id"].decode())
    except ValueError as error:
        raise _corrupt(path, str(error)) from error
    if topic_id == ZERO_UUID:
        raise _corrupt(path, "no topic has the id zero")
    return topic_id


def _corrupt(path: str, reason: str) -> CorruptCheckpointError:
    return CorruptCheckpointError(
        f"{path} is corrupt: {reason}. Remove it if no other topic ever had this name."
    )
