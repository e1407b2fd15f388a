"""How far the logs of a directory are clean: Kafka's `cleaner-offset-checkpoint`.

An offset that is too low costs work: the next compaction takes more of the log for dirty than it
is. One that is too high would do harm, for a tombstone below it is taken to have done its duty, and
when it goes the value that it deleted is back. So an offset is raised after a compaction has been
swapped in, and is lowered, durably, before the log is truncated.
"""

from __future__ import annotations

from ottla.model import TopicPartition
from ottla.runtime.disk import Disk
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.log.log import Log


class CleanerOffsets:
    """The offsets of one log directory, read when made and written with every change."""

    __slots__ = ("_checkpoint", "_offsets")

    def __init__(self, disk: Disk, directory: str) -> None:
        self._checkpoint = OffsetCheckpoint(disk, directory, OffsetCheckpointName.CLEANER_OFFSET)
        try:
            self._offsets = self._checkpoint.read()
        except CorruptCheckpointError:
            # Then everything is dirty.
            self._offsets = {}

    def known(self, partition: TopicPartition) -> int:
        """How far a log was clean when it was last compacted, whatever became of it since."""
        return self._offsets.get(partition, 0)

    def first_dirty_offset(self, log: Log) -> int:
        """Where the next compaction begins: where the last one ended, or at the log's start if that
        has moved past it, or if the log does not reach so far any more."""
        found = self._offsets.get(log.partition, log.log_start_offset)
        if found > log.log_end_offset:
            self.truncate(log.partition, log.log_start_offset)
            return log.log_start_offset
        return max(found, log.log_start_offset)

    def advance(self, partition: TopicPartition, offset: int) -> None:
        """Notes that a log is clean up to an offset, once the compaction has been swapped in."""
        self._write(self._offsets | {partition: offset})

    def truncate(self, partition: TopicPartition, offset: int) -> None:
        """Notes that a log is about to be truncated."""
        if self._offsets.get(partition, 0) > offset:
            self._write(self._offsets | {partition: offset})

    def forget(self, *partitions: TopicPartition) -> None:
        """Forgets logs that were deleted or have moved to another directory."""
        if gone := self._offsets.keys() & partitions:
            self._write({each: at for each, at in self._offsets.items() if each not in gone})

    def _write(self, offsets: dict[TopicPartition, int]) -> None:
        self._checkpoint.write(offsets)
        self._offsets = offsets
