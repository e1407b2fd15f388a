"""The names of segment files and partition directories.

Kafka's names carry state. A segment file that is being deleted, compacted or swapped in has a
second suffix. The directory of a partition that is being deleted or moved, or is a stray, has a
suffix too. Recovery reads the state from the names.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from ottla.model import TopicPartition, Uuid

OFFSET_MAX = 2**63 - 1
FILE_NAME_LENGTH_MAX = 255


class FileKind(StrEnum):
    """The kind of a segment file."""

    LOG = ".log"
    OFFSET_INDEX = ".index"
    TIME_INDEX = ".timeindex"
    TRANSACTION_INDEX = ".txnindex"
    PRODUCER_SNAPSHOT = ".snapshot"


class FileState(StrEnum):
    """The state of a segment file, as its second suffix."""

    LIVE = ""
    CLEANED = ".cleaned"
    SWAP = ".swap"
    DELETED = ".deleted"


class DirectoryState(StrEnum):
    """The state of a partition's directory, as its suffix."""

    LIVE = ""
    DELETE = "-delete"
    FUTURE = "-future"
    STRAY = "-stray"


class SegmentFileName(NamedTuple):
    """A segment file. A producer snapshot's offset is where its state ends."""

    base_offset: int
    kind: FileKind
    state: FileState = FileState.LIVE

    def __str__(self) -> str:
        return f"{self.base_offset:020d}{self.kind}{self.state}"

    @classmethod
    def parse(cls, name: str) -> SegmentFileName | None:
        """The parts of a segment's file name, or None for any other file."""
        match = _SEGMENT_FILE.fullmatch(name)
        if match is None or int(match["offset"]) > OFFSET_MAX:
            return None
        return cls(int(match["offset"]), FileKind(match["kind"]), FileState(match["state"] or ""))


class PartitionDirectoryName(NamedTuple):
    """A partition's directory. Unless it is live, `unique_id` distinguishes it from others of the
    same partition."""

    partition: TopicPartition
    state: DirectoryState = DirectoryState.LIVE
    unique_id: Uuid | None = None

    def __str__(self) -> str:
        topic, partition = self.partition
        if self.state is DirectoryState.LIVE:
            return f"{topic}-{partition}"
        assert self.unique_id is not None, f"a directory {self.state} needs a unique id"
        ending = f"-{partition}.{self.unique_id.hex()}{self.state}"
        # A future directory becomes the live one, so its topic has to stay complete. The others
        # only wait for removal; their topic is cut to what file systems accept, as in Kafka.
        if self.state is not DirectoryState.FUTURE:
            topic = topic[: FILE_NAME_LENGTH_MAX - len(ending)]
        return topic + ending

    @classmethod
    def parse(cls, name: str) -> PartitionDirectoryName:
        """The parts of a directory's name. Raises `ValueError` if it is not a partition's
        directory."""
        match = _MARKED_DIRECTORY.fullmatch(name)
        if match is None:
            return cls(TopicPartition.from_directory_name(name))
        return cls(
            TopicPartition.from_directory_name(match["partition"]),
            DirectoryState(match["state"]),
            Uuid(bytes.fromhex(match["unique_id"])),
        )


def _one_of(suffixes: type[StrEnum]) -> str:
    return "|".join(re.escape(suffix) for suffix in suffixes if suffix)


_SEGMENT_FILE = re.compile(
    rf"(?P<offset>[0-9]{{20}})(?P<kind>{_one_of(FileKind)})(?P<state>{_one_of(FileState)})?"
)
_MARKED_DIRECTORY = re.compile(
    rf"(?P<partition>.+)\.(?P<unique_id>[0-9a-f]{{32}})(?P<state>{_one_of(DirectoryState)})"
)
