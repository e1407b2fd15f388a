"""Logs that are in the way of a new one, because they kept its name after a failure.

A log whose directory could not be renamed when it was removed has the name of its partition until
the next start. A topic that takes the name before must not get its records.
"""

from __future__ import annotations

from ottla.model import Uuid
from ottla.runtime.disk import Disk
from ottla.storage.directories.partition_metadata import read_partition_metadata
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.file_names import DirectoryState, PartitionDirectoryName


def set_other_log_aside(disk: Disk, directory: str, topic_id: Uuid) -> None:
    """Makes the log in a directory a stray, unless it is the topic's own, or was never finished.
    Only touches the disk."""
    try:
        other = read_partition_metadata(disk, directory)
    except CorruptCheckpointError:
        other = None
    if other == topic_id or (other is None and _is_empty(disk, directory)):
        return
    path, _, name = directory.rpartition("/")
    partition = PartitionDirectoryName.parse(name).partition
    # Named after the topic that it belongs to, or else after the one that it is in the way of.
    stray = PartitionDirectoryName(partition, DirectoryState.STRAY, other or topic_id)
    disk.rename(directory, f"{path}/{stray}")
    disk.sync_directory(path)


def _is_empty(disk: Disk, directory: str) -> bool:
    return not any(
        disk.file_size(f"{directory}/{name}")
        for name in disk.list_directory(directory)
        if name.endswith(".log")
    )
