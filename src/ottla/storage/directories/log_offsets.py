"""The offsets of a directory's logs in its three checkpoints, read and written together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ottla.model import TopicPartition
from ottla.runtime.disk import Disk
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.log.log import Log


class LogOffsets(NamedTuple):
    recovery_point: int = 0
    log_start_offset: int = 0
    high_watermark: int = 0

    @classmethod
    def of(cls, log: Log) -> LogOffsets:
        return cls(log.recovery_point, log.log_start_offset, log.high_watermark)


class LogCheckpoints:
    """Belongs to a log directory. Keeps nothing in memory."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._recovery_points, self._log_starts, self._high_watermarks = (
            OffsetCheckpoint(disk, path, name)
            for name in (
                OffsetCheckpointName.RECOVERY_POINT,
                OffsetCheckpointName.LOG_START_OFFSET,
                OffsetCheckpointName.REPLICATION_OFFSET,
            )
        )

    def read(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, LogOffsets | None]:
        """None for a partition without a recovery point: no checkpoint was written since it has
        its name."""
        points, starts, marks = (
            _read(each) for each in (self._recovery_points, self._log_starts, self._high_watermarks)
        )
        return {
            each: LogOffsets(points[each], starts.get(each, 0), marks.get(each, 0))
            if each in points
            else None
            for each in partitions
        }

    def write(self, offsets: Mapping[TopicPartition, LogOffsets]) -> None:
        """Writes all of them, durably. The recovery points are last: a partition that has one has
        its other offsets, too."""
        starts = {name: each.log_start_offset for name, each in offsets.items()}
        self._log_starts.write({name: offset for name, offset in starts.items() if offset})
        self._high_watermarks.write({name: each.high_watermark for name, each in offsets.items()})
        self.write_recovery_points({name: each.recovery_point for name, each in offsets.items()})

    def write_recovery_points(self, points: Mapping[TopicPartition, int]) -> None:
        self._recovery_points.write(points)


def _read(checkpoint: OffsetCheckpoint) -> dict[TopicPartition, int]:
    """A corrupt checkpoint loses no data; recovery only takes longer."""
    try:
        return checkpoint.read()
    except CorruptCheckpointError:
        return {}
