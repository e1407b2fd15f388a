"""How far each log of a directory is clean: Kafka's `cleaner-offset-checkpoint`.

An offset that is too low only costs work: the next compaction treats clean records as dirty. One
that is too high does harm: a tombstone below it counts as applied, and when the tombstone is
removed, the value that it deleted reappears. So an offset is raised after a compaction has been
swapped in, and lowered, durably, before the log is truncated.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from ottla.model import TopicPartition
from ottla.runtime.disk import Disk
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.log.log import Log


class CleanerOffsets:
    """The offsets of one log directory. Read at construction, written with every change, except
    that logs which are forgotten may stay in the file until `write_outdated`."""

    __slots__ = ("_checkpoint", "_is_outdated", "_offsets")

    def __init__(self, disk: Disk, directory: str) -> None:
        self._checkpoint = OffsetCheckpoint(disk, directory, OffsetCheckpointName.CLEANER_OFFSET)
        # Whether the file has logs that were forgotten.
        self._is_outdated = False
        try:
            self._offsets = self._checkpoint.read()
        except CorruptCheckpointError:
            # Treat everything as dirty.
            self._offsets = {}

    def known(self, partition: TopicPartition) -> int:
        """How far the last compaction cleaned a log, regardless of changes since."""
        return self._offsets.get(partition, 0)

    def first_dirty_offset(self, log: Log) -> int:
        """Where the next compaction begins: at the end of the last one. At the log start offset if
        that is higher, or if the log now ends before that point."""
        found = self._offsets.get(log.partition, log.log_start_offset)
        if found > log.log_end_offset:
            self.truncate(log.partition, log.log_start_offset)
            return log.log_start_offset
        return max(found, log.log_start_offset)

    def advance(self, partition: TopicPartition, offset: int) -> None:
        """Records that a log is clean up to an offset, after the compaction was swapped in."""
        self._write(self._offsets | {partition: offset})

    def truncate(self, partition: TopicPartition, offset: int) -> None:
        """Lowers the offset before a log is truncated."""
        if self._offsets.get(partition, 0) > offset:
            self._write(self._offsets | {partition: offset})

    def forget(self, *partitions: TopicPartition) -> None:
        """Removes logs that were deleted or moved to another directory. Only from memory if the
        file cannot be written: a log must go also when the disk is full."""
        if gone := self._offsets.keys() & partitions:
            self._offsets = {each: at for each, at in self._offsets.items() if each not in gone}
            self._is_outdated = True
            with suppress(OSError):
                self.write_outdated()

    def retain(self, partitions: Collection[TopicPartition]) -> None:
        """Removes all other logs, from the file too when `write_outdated` is called."""
        kept = {each: at for each, at in self._offsets.items() if each in partitions}
        self._is_outdated = self._is_outdated or len(kept) < len(self._offsets)
        self._offsets = kept

    def write_outdated(self) -> None:
        """Removes forgotten logs from the file, before other logs get their names."""
        if self._is_outdated:
            self._write(self._offsets)

    def _write(self, offsets: dict[TopicPartition, int]) -> None:
        self._checkpoint.write(offsets)
        self._offsets = offsets
        self._is_outdated = False
