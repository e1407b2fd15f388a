"""Stray log directories, and since when they are stray.

A file in each stray directory holds the time, because renaming a directory does not change any
timestamp in it. A stray without this file, from Kafka or an earlier version, gets one when it is
first found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ottla.model import TopicPartition, Uuid
from ottla.runtime.disk import Disk
from ottla.storage.directories.partition_metadata import read_partition_metadata
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.durable_file import read_file, replace_file
from ottla.storage.files.file_names import DirectoryState, PartitionDirectoryName

FILE_NAME: Final = "stray-since"


class StrayDirectory(NamedTuple):
    """`topic_id` is None if it cannot be read. The topic's name may be truncated."""

    path: str
    partition: TopicPartition
    topic_id: Uuid | None
    since_ms: int


def find_strays(disk: Disk, path: str, *, now_ms: int) -> list[StrayDirectory]:
    """The strays in a log directory. Writes only their `stray-since` files, so it may run on a
    worker."""
    found = []
    for name, parsed in _stray_names(disk.list_directory(path)):
        stray = f"{path}/{name}"
        if disk.is_directory(stray):
            since_ms = _marked_ms(disk, stray)
            if since_ms is None:
                since_ms = now_ms
                replace_file(disk, f"{stray}/{FILE_NAME}", b"%d\n" % now_ms)
            topic_id = _topic_id(disk, stray)
            found.append(StrayDirectory(stray, parsed.partition, topic_id, since_ms))
    return found


def _stray_names(names: Iterable[str]) -> Iterable[tuple[str, PartitionDirectoryName]]:
    for name in names:
        try:
            parsed = PartitionDirectoryName.parse(name)
        except ValueError:
            continue
        if parsed.state is DirectoryState.STRAY:
            yield name, parsed


def _marked_ms(disk: Disk, stray: str) -> int | None:
    content = (read_file(disk, f"{stray}/{FILE_NAME}") or b"").strip()
    return int(content) if content.isdigit() else None


def _topic_id(disk: Disk, stray: str) -> Uuid | None:
    try:
        return read_partition_metadata(disk, stray)
    except CorruptCheckpointError:
        return None
