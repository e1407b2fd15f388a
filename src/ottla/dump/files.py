"""Recognises Kafka's files by their names, and lists them in the order of the log.

A partition's directory lists its metadata files first, then its segments by offset. A log directory
(an entry of `log.dirs`) lists its own files first, then those of its partitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from posixpath import basename, dirname, join, normpath
from typing import Final, NamedTuple

from ottla.dump.selection import Selection
from ottla.runtime.disk import Disk
from ottla.storage.directories import clean_shutdown, meta_properties, partition_metadata
from ottla.storage.directories.offset_checkpoints import OffsetCheckpointName
from ottla.storage.epochs import epoch_cache
from ottla.storage.files.file_names import (
    FileKind,
    FileState,
    PartitionDirectoryName,
    SegmentFileName,
)


class Kind(StrEnum):
    """The kind of a file, as shown to users."""

    META_PROPERTIES = "identity of a log directory"
    CLEAN_SHUTDOWN = "mark of a clean shutdown"
    OFFSET_CHECKPOINT = "checkpoint of offsets"
    PARTITION_METADATA = "topic of a partition"
    LEADER_EPOCHS = "leader epochs"
    QUORUM_STATE = "state of the metadata quorum"
    METADATA_SNAPSHOT = "metadata snapshot"
    LOG = "log"
    OFFSET_INDEX = "offset index"
    TIME_INDEX = "time index"
    TRANSACTION_INDEX = "transaction index"
    PRODUCER_SNAPSHOT = "producer snapshot"


LOGS: Final = frozenset({Kind.LOG, Kind.METADATA_SNAPSHOT})

_ORDER: Final = {kind: place for place, kind in enumerate(Kind)}

_KIND_OF_SEGMENT_FILE: Final = {
    FileKind.LOG: Kind.LOG,
    FileKind.OFFSET_INDEX: Kind.OFFSET_INDEX,
    FileKind.TIME_INDEX: Kind.TIME_INDEX,
    FileKind.TRANSACTION_INDEX: Kind.TRANSACTION_INDEX,
    FileKind.PRODUCER_SNAPSHOT: Kind.PRODUCER_SNAPSHOT,
}

_KIND_OF_NAME: Final[dict[str, Kind]] = {
    meta_properties.FILE_NAME: Kind.META_PROPERTIES,
    clean_shutdown.FILE_NAME: Kind.CLEAN_SHUTDOWN,
    partition_metadata.FILE_NAME: Kind.PARTITION_METADATA,
    epoch_cache.FILE_NAME: Kind.LEADER_EPOCHS,
    "quorum-state": Kind.QUORUM_STATE,
    "bootstrap.checkpoint": Kind.METADATA_SNAPSHOT,
    **dict.fromkeys(OffsetCheckpointName, Kind.OFFSET_CHECKPOINT),
}

# The end offset and epoch; the suffix marks a snapshot that is being written or deleted.
_METADATA_SNAPSHOT: Final = re.compile(
    r"(?P<offset>[0-9]{20})-[0-9]{10}\.checkpoint(\.part|\.deleted)?"
)


class KnownFile(NamedTuple):
    """A file of a known kind. `offset` is from its name, `topic` from its directory's name."""

    path: str
    kind: Kind
    offset: int = 0
    state: FileState = FileState.LIVE
    topic: str | None = None

    @property
    def directory(self) -> str:
        return dirname(self.path) or "."

    def beside(self, kind: FileKind) -> str:
        """The path of another file of the same segment, in the same state."""
        return join(dirname(self.path), str(SegmentFileName(self.offset, kind, self.state)))


def recognise(path: str, *, working_directory: str = "/") -> KnownFile | None:
    """The kind of a path, or None if its name is not one of Kafka's.

    `working_directory` is the base of a relative path; its name may contain the topic.
    """
    name = basename(path)
    topic = _topic(dirname(normpath(join(working_directory, path))))
    segment_file = SegmentFileName.parse(name)
    if segment_file is not None:
        kind = _KIND_OF_SEGMENT_FILE[segment_file.kind]
        return KnownFile(path, kind, segment_file.base_offset, segment_file.state, topic)
    if snapshot := _METADATA_SNAPSHOT.fullmatch(name):
        return KnownFile(path, Kind.METADATA_SNAPSHOT, int(snapshot["offset"]), topic=topic)
    if name in _KIND_OF_NAME:
        return KnownFile(path, _KIND_OF_NAME[name], topic=topic)
    return None


def list_files(disk: Disk, directory: str, *, working_directory: str = "/") -> Iterator[KnownFile]:
    """The known files of a directory in order, followed by those of its partition directories."""
    names = disk.list_directory(directory)
    paths = [join(directory, name) for name in names]
    directories = [path for path in paths if disk.is_directory(path)]
    files = [
        file
        for path in paths
        if path not in directories
        if (file := recognise(path, working_directory=working_directory)) is not None
    ]
    yield from sorted(files, key=_place)
    for path in directories:
        if _topic(path) is not None:
            yield from list_files(disk, path, working_directory=working_directory)


def without_segments_outside(files: list[KnownFile], selection: Selection) -> list[KnownFile]:
    """Removes the segments that cannot contain an offset of the selection.

    A segment ends where the next log of its directory begins. Segments under compaction may extend
    further, so they are kept. So are snapshots, which are named after their end offset.
    """
    ends: dict[tuple[str, int], int] = {}
    live = [file for file in files if file.kind is Kind.LOG and file.state is FileState.LIVE]
    logs = sorted((file.directory, file.offset) for file in live)
    for (directory, offset), (next_directory, next_offset) in pairwise(logs):
        if directory == next_directory:
            ends[directory, offset] = next_offset - 1

    def may_matter(file: KnownFile) -> bool:
        if file.kind not in _SEGMENT_KINDS or file.state is not FileState.LIVE:
            return True
        last_offset = ends.get((file.directory, file.offset), selection.to_offset)
        return selection.overlaps(first=file.offset, last=last_offset)

    return [file for file in files if may_matter(file)]


_SEGMENT_KINDS: Final = frozenset(_KIND_OF_SEGMENT_FILE.values()) - {Kind.PRODUCER_SNAPSHOT}


def _place(file: KnownFile) -> tuple[bool, int, str, int, str]:
    is_of_segment = file.kind in LOGS or file.kind in _SEGMENT_KINDS or file.offset > 0
    return is_of_segment, file.offset, file.state, _ORDER[file.kind], file.path


def _topic(directory: str) -> str | None:
    try:
        return PartitionDirectoryName.parse(basename(directory)).partition.topic
    except ValueError:
        return None
