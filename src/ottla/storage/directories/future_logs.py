"""Future logs: replicas that are being moved into this directory from another one (KIP-113).

    begun ──filled by its owner──▶ promoted: the partition's log in this directory
      └──▶ discarded

A future log has its own directory, `orders-0.<unique id>-future`. No checkpoint contains it, so
after a crash it is recovered from its first segment on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from ottla.model import TopicPartition, Uuid
from ottla.runtime.disk import Disk
from ottla.storage.directories.partition_metadata import write_partition_metadata
from ottla.storage.errors import StorageError
from ottla.storage.files.file_names import DirectoryState, PartitionDirectoryName
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log.recovery_points import RecoveryPointKeeper
from ottla.storage.log_config import LogConfig


class _NoCheckpoint:
    """A `RecoveryPointKeeper` that keeps nothing."""

    def lower(self, partition: TopicPartition, recovery_point: int) -> None: ...


class FutureLog(NamedTuple):
    name: PartitionDirectoryName
    log: Log


class FutureLogs:
    """Belongs to a log directory and its owner. At most one future log per partition."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._logs: dict[TopicPartition, FutureLog] = {}

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self._logs)

    def get(self, partition: TopicPartition) -> Log | None:
        found = self._logs.get(partition)
        return None if found is None else found.log

    def load(
        self,
        configs: Mapping[PartitionDirectoryName, LogConfig],
        *,
        had_clean_shutdown: bool,
        now_ms: int,
    ) -> list[str]:
        """Opens the future logs that were found. Returns the paths of invalid ones to purge: a
        future log is a copy and can be started again."""
        useless = []
        for name, config in configs.items():
            if name.partition not in self._logs:
                try:
                    self._open(name, config, is_clean=had_clean_shutdown, now_ms=now_ms)
                except StorageError:
                    pass
                else:
                    continue
            useless.append(f"{self._path}/{name}")
        return useless

    def begin(
        self,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
        *,
        unique_id: Uuid,
        start_offset: int,
        now_ms: int,
    ) -> Log:
        """Creates an empty future log, durably."""
        assert partition not in self._logs, f"{partition} has a future log in {self._path} already"
        name = PartitionDirectoryName(partition, DirectoryState.FUTURE, unique_id)
        self._disk.make_directories(f"{self._path}/{name}")
        write_partition_metadata(self._disk, f"{self._path}/{name}", topic_id)
        self._disk.sync_directory(self._path)
        log = self._open(name, config, is_clean=True, now_ms=now_ms)
        if start_offset:
            log.truncate_fully(start_offset, now_ms=now_ms)
        return log

    def promote(
        self,
        partition: TopicPartition,
        *,
        recovery_points: RecoveryPointKeeper,
        log_start_offset: int,
        now_ms: int,
    ) -> Log:
        """Turns the future log into the partition's log in this directory, durably, and opens
        it."""
        name, log = self._logs[partition].name, self._logs[partition].log
        log.close()
        del self._logs[partition]
        live = f"{self._path}/{partition}"
        self._disk.rename(f"{self._path}/{name}", live)
        self._disk.sync_directory(self._path)
        return open_log(
            self._disk,
            live,
            partition,
            log.config,
            recovery_points=recovery_points,
            now_ms=now_ms,
            log_start_offset=log_start_offset,
            recovery_point=log.log_end_offset,
            had_clean_shutdown=True,
        )

    def discard(self, partition: TopicPartition) -> str:
        """Abandons a future log, durably, and returns the path to purge."""
        found = self._logs.pop(partition)
        found.log.abandon()
        deleted = found.name._replace(state=DirectoryState.DELETE)
        self._disk.rename(f"{self._path}/{found.name}", f"{self._path}/{deleted}")
        self._disk.sync_directory(self._path)
        return f"{self._path}/{deleted}"

    def close(self) -> None:
        for found in self._logs.values():
            found.log.close()

    def abandon(self) -> None:
        for found in self._logs.values():
            with suppress(OSError):
                found.log.abandon()

    def _open(
        self, name: PartitionDirectoryName, config: LogConfig, *, is_clean: bool, now_ms: int
    ) -> Log:
        log = open_log(
            self._disk,
            f"{self._path}/{name}",
            name.partition,
            config,
            recovery_points=_NoCheckpoint(),
            now_ms=now_ms,
            had_clean_shutdown=is_clean,
        )
        self._logs[name.partition] = FutureLog(name, log)
        return log
