"""What the files of a segment and the directory of a partition are called.

Kafka's names carry state: a file on its way out, under compaction or being swapped in has a second
suffix, and a partition that is being deleted, moved or was never asked for has one on its
directory. Recovery after a crash reads that state back from the names.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from ottla.model import TopicPartition, Uuid

OFFSET_MAX = 2**63 - 1
FILE_NAME_LENGTH_MAX = 255


class FileKind(StrEnum):
    """Which file of a segment."""

    LOG = ".log"
    OFFSET_INDEX = ".index"
    TIME_INDEX = ".timeindex"
    TRANSACTION_INDEX = ".txnindex"
    PRODUCER_SNAPSHOT = ".snapshot"


class FileState(StrEnum):
    """What is happening to a file, as its second suffix."""

    LIVE = ""
    CLEANED = ".cleaned"
    SWAP = ".swap"
    DELETED = ".deleted"


class DirectoryState(StrEnum):
    """What is happening to a partition's directory, as its suffix."""

    LIVE = ""
    DELETE = "-delete"
    FUTURE = "-future"
    STRAY = "-stray"


class SegmentFileName(NamedTuple):
    """A file of a segment; for a producer snapshot the offset is where its state ends."""

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
    """A partition's directory. Where it is not live, `unique_id` keeps it apart from its like."""

    partition: TopicPartition
    state: DirectoryState = DirectoryState.LIVE
    unique_id: Uuid | None = None

    def __str__(self) -> str:
        topic, partition = self.partition
        if self.state is DirectoryState.LIVE:
            return f"{topic}-{partition}"
        assert self.unique_id is not None, f"a directory {self.state} needs a unique id"
        ending = f"-{partition}.{self.unique_id.hex()}{self.state}"
        # A future directory becomes the live one, so its topic has to stay readable; the others
        # only wait for removal and are cut, as Kafka does, to what file systems take.
        if self.state is not DirectoryState.FUTURE:
            topic = topic[: FILE_NAME_LENGTH_MAX - len(ending)]
        return topic + ending

    @classmethod
    def parse(cls, name: str) -> PartitionDirectoryName:
        """The parts of a directory's name; `ValueError` if no partition is called like that."""
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
