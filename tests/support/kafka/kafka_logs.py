"""Logs that Apache Kafka wrote, opened with ours as a starting node would."""

from __future__ import annotations

from pathlib import Path

from ottla.model import TopicPartition
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log_config import LogConfig
from tests.support.kafka.kafka_fixtures import extract

DISK = SystemDisk()


class NoCheckpoints:
    """For logs of which nothing was flushed since they were opened."""

    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        pass


def opened_partition(name: str, into: Path) -> Log:
    """Unpacks a partition, such as `clean/plain-0`, and opens it."""
    return open_partition(extract(name, into), is_clean=name.startswith("clean/"))


def open_partition(directory: Path, *, is_clean: bool) -> Log:
    """Opens a partition with what the checkpoints of its data directory say."""
    partition = TopicPartition.from_directory_name(directory.name)

    def checkpointed(name: OffsetCheckpointName) -> int:
        return OffsetCheckpoint(DISK, str(directory.parent), name).read().get(partition, 0)

    return open_log(
        DISK,
        str(directory),
        partition,
        LogConfig(),
        recovery_points=NoCheckpoints(),
        now_ms=0,
        log_start_offset=checkpointed(OffsetCheckpointName.LOG_START_OFFSET),
        recovery_point=checkpointed(OffsetCheckpointName.RECOVERY_POINT),
        had_clean_shutdown=is_clean,
    )
