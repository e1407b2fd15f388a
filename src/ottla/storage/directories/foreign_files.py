"""Detects files in a directory that belong to neither Kafka nor Ottla.

A directory with such files is not formatted, because its path is most likely a mistake. Hidden
files and a file system's `lost+found` are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from ottla.runtime.disk import Disk
from ottla.storage.directories.meta_properties import FILE_NAME as META_PROPERTIES
from ottla.storage.directories.offset_checkpoints import OffsetCheckpointName
from ottla.storage.directories.stray_directories import FILE_NAME as STRAY_SINCE
from ottla.storage.errors import StorageError
from ottla.storage.files.file_names import PartitionDirectoryName, SegmentFileName

_ALLOWED: Final = frozenset(
    {
        META_PROPERTIES,
        "bootstrap.checkpoint",
        "lost+found",
        "remote-log-index-cache",
        *OffsetCheckpointName,
    }
)
# The files of a partition's directory other than its segments.
_PARTITION_FILES: Final = frozenset(
    {"leader-epoch-checkpoint", "partition.metadata", "quorum-state", STRAY_SINCE}
)
_NAMES_SHOWN: Final = 3


def refuse_foreign_files(disk: Disk, directories: Iterable[str]) -> None:
    """Raises `StorageError` for an unformatted directory that holds other programs' files.

    Skips a directory that cannot be read: opening it later reports the error.
    """
    for directory in directories:
        with suppress(OSError):
            if disk.exists(f"{directory}/{META_PROPERTIES}"):
                continue
            foreign = _foreign_names(disk, directory)
            if foreign:
                raise StorageError(
                    f"{directory} is not formatted and holds files that are not Kafka's: "
                    f"{_listed(foreign)}. Choose an empty directory, or move these files away"
                )


def _foreign_names(disk: Disk, directory: str) -> list[str]:
    return [
        name
        for name in disk.list_directory(directory)
        if not (
            name.startswith(".")
            or name.removesuffix(".tmp") in _ALLOWED
            or _is_partition(disk, directory, name)
        )
    ]


def _is_partition(disk: Disk, directory: str, name: str) -> bool:
    """Also checks the content, because other directories, such as photos-2024, end in a number
    too."""
    try:
        PartitionDirectoryName.parse(name)
    except ValueError:
        return False
    path = f"{directory}/{name}"
    if not disk.is_directory(path):
        return False
    files = disk.list_directory(path)
    return not files or any(
        file.removesuffix(".tmp") in _PARTITION_FILES
        or file.endswith(".checkpoint")
        or SegmentFileName.parse(file) is not None
        for file in files
    )


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    left_out = len(names) - _NAMES_SHOWN
    return f"{shown} and {left_out} more" if left_out > 0 else shown
