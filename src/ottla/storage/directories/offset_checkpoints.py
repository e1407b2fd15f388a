"""A log directory's checkpoints with one offset per partition."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ottla.model import TopicPartition
from ottla.runtime.disk import Disk
from ottla.storage.files.checkpoint_file import CheckpointFile, parse_integer


class OffsetCheckpointName(StrEnum):
    # Everything below is on the device. Recovery after a crash begins here.
    RECOVERY_POINT = "recovery-point-offset-checkpoint"
    # Log start offsets set by DeleteRecords and retention, where not a segment's base offset.
    LOG_START_OFFSET = "log-start-offset-checkpoint"
    # High watermarks.
    REPLICATION_OFFSET = "replication-offset-checkpoint"
    # How far compaction has cleaned the log.
    CLEANER_OFFSET = "cleaner-offset-checkpoint"


class OffsetCheckpoint:
    """One of these files. Always reads and writes the whole file; keeps nothing in memory."""

    __slots__ = ("_disk", "_file")

    def __init__(self, disk: Disk, directory: str, name: OffsetCheckpointName) -> None:
        self._disk = disk
        self._file = CheckpointFile(disk, f"{directory}/{name}", _format_entry, _parse_entry)

    @property
    def path(self) -> str:
        return self._file.path

    def read(self) -> dict[TopicPartition, int]:
        """Returns an empty dict if there is no file. Raises `CorruptCheckpointError` if it cannot
        be parsed."""
        return dict(self._file.read())

    def write(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replaces the file durably. Does not create one without any offsets, which means the
        same."""
        if offsets or self._disk.exists(self.path):
            self._file.write(offsets.items())


def _format_entry(entry: tuple[TopicPartition, int]) -> str:
    (topic, partition), offset = entry
    return f"{topic} {partition} {offset}"


def _parse_entry(words: list[str]) -> tuple[TopicPartition, int]:
    if len(words) != 3:
        raise ValueError("expected a topic, a partition and an offset")
    topic, partition, offset = words
    return TopicPartition(topic, parse_integer(partition)), parse_integer(offset)
