"""One log directory (an entry of `log.dirs`): its lock, checkpoints and partitions.

    formatted ──open──▶ locked ──load──▶ serving ──close──▶ clean
                                            └──failure or crash──▶ recovered by the next load

There is no clean-shutdown marker between `load` and `close`, so the next process detects any other
end. Every file here is Kafka's, by name and content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from ottla.model import TopicPartition, Uuid
from ottla.runtime.disk import Disk
from ottla.storage.directories.clean_shutdown import (
    read_clean_shutdown,
    remove_clean_shutdown,
    write_clean_shutdown,
)
from ottla.storage.directories.cleaner_offsets import CleanerOffsets
from ottla.storage.directories.deleted_logs import DeletedLogs, RestoredLog
from ottla.storage.directories.future_logs import FutureLogs
from ottla.storage.directories.log_offsets import LogCheckpoints, LogOffsets
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.storage.directories.other_logs import set_other_log_aside
from ottla.storage.directories.partition_metadata import FILE_NAME as PARTITION_METADATA
from ottla.storage.directories.partition_metadata import (
    begin_partition_metadata,
    read_partition_metadata,
    sync_partition_metadata,
)
from ottla.storage.errors import StorageError
from ottla.storage.files.durable_file import make_directories
from ottla.storage.files.file_names import (
    DirectoryState,
    FileKind,
    PartitionDirectoryName,
    SegmentFileName,
)
from ottla.storage.log.flush import TOGETHER_MIN, run_together
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import blank_log, load_log, open_log
from ottla.storage.log_config import LogConfig

LOCK_NAME = ".lock"
# The metadata log has its directory here too, but the controller owns it.
METADATA_TOPIC = "__cluster_metadata"
# The files of an empty log.
_FIRST_FILES = tuple(
    str(SegmentFileName(0, kind))
    for kind in (FileKind.LOG, FileKind.OFFSET_INDEX, FileKind.TIME_INDEX)
)

# Takes some hundred milliseconds, and is enough to make syncing them together worthwhile.
_OPENED_AT_ONCE: Final = 1_000

ConfigOf = Callable[[TopicPartition], LogConfig]
# Called after each group of logs, with the number of open logs and the total.
Progress = Callable[[int, int], None]


class LogDirectory:
    """Holds the directory's lock from construction to `close`. Owned by one thread."""

    def __init__(self, disk: Disk, path: str) -> None:
        self.path = path
        self.logs: dict[TopicPartition, Log] = {}
        # Partitions that stay closed because their files contradict the recovery point, with the
        # error.
        self.offline: dict[TopicPartition, StorageError] = {}
        self._disk = disk
        self._id: Uuid | None = None
        make_directories(disk, path)
        self._lock = disk.lock(f"{path}/{LOCK_NAME}")
        self._checkpoints = LogCheckpoints(disk, path)
        self.cleaner_offsets = CleanerOffsets(disk, path)
        # Replicas that are being moved here from another directory.
        self.futures = FutureLogs(disk, path)
        self._found_futures: list[PartitionDirectoryName] = []
        # Those that a load finds stay until its caller knows which of them may be restored.
        self.deleted = DeletedLogs(disk, path)
        # Checkpointed offsets of partitions that are not open; kept until they are opened or
        # deleted.
        self._unopened: dict[TopicPartition, LogOffsets] = {}
        # Removed partitions that may still be in the checkpoints.
        self._outdated: set[TopicPartition] = set()
        # Whether the last process closed the directory cleanly; set by `load`.
        self.had_clean_shutdown = False
        self._is_loaded = False

    def load(self, config_of: ConfigOf, *, now_ms: int) -> None:
        """Opens every partition's log before it returns."""
        for step in self.load_in_steps(config_of, now_ms=now_ms):
            step()

    def load_in_steps(
        self, config_of: ConfigOf, *, now_ms: int, progress: Progress = lambda _done, _all: None
    ) -> Iterator[Callable[[], None]]:
        """Opens every partition's log in steps.

        The owner runs the steps one after the other, on a worker if there may be many partitions.
        The directory must not be used otherwise until the last step is done.
        """
        yield self._begin_load
        partitions = list(self._unopened)
        for first in range(0, len(partitions), _OPENED_AT_ONCE):
            configs = {
                partition: config_of(partition)
                for partition in partitions[first : first + _OPENED_AT_ONCE]
            }
            yield partial(self._open_some, configs, now_ms=now_ms)
            progress(first + len(configs), len(partitions))
        futures = {name: config_of(name.partition) for name in self._found_futures}
        yield partial(self._open_futures, futures, now_ms=now_ms)
        yield self._end_load

    def _begin_load(self) -> None:
        marker = read_clean_shutdown(self._disk, self.path)
        self.had_clean_shutdown = marker is not None
        remove_clean_shutdown(self._disk, self.path)
        found = self._checkpoints.read(self._find_partitions())
        self._unopened = self.deleted.offsets_of(found)
        # Futures have the names of live logs.
        self.cleaner_offsets.retain({*found, *(each.partition for each in self._found_futures)})

    def _open_some(self, configs: Mapping[TopicPartition, LogConfig], *, now_ms: int) -> None:
        opened = []
        for partition, config in configs.items():
            found = self._unopened[partition]
            try:
                log = load_log(
                    self._disk,
                    f"{self.path}/{partition}",
                    partition,
                    config,
                    recovery_points=self,
                    now_ms=now_ms,
                    log_start_offset=found.log_start_offset,
                    recovery_point=found.recovery_point,
                    compacted_up_to=self.cleaner_offsets.known(partition),
                    had_clean_shutdown=self.had_clean_shutdown,
                )
            except StorageError as error:
                self.offline[partition] = error
                continue
            log.advance_high_watermark(found.high_watermark)
            opened.append(log)
        self._flush_together(opened)
        for log in opened:
            if not (self.had_clean_shutdown or log.log_end_offset):
                self._doubt(log)
            self.logs[log.partition] = log
            del self._unopened[log.partition]

    def _flush_together(self, logs: list[Log]) -> None:
        flushes = {log: flush for log in logs if (flush := log.prepare_flush()) is not None}
        run_together(self._disk, flushes.values())
        for log, flush in flushes.items():
            log.complete_flush(flush)

    def _open_futures(
        self, configs: Mapping[PartitionDirectoryName, LogConfig], *, now_ms: int
    ) -> None:
        is_clean = self.had_clean_shutdown
        for path in self.futures.load(configs, had_clean_shutdown=is_clean, now_ms=now_ms):
            self.purge(path)

    def _end_load(self) -> None:
        self.write_checkpoints()
        self._is_loaded = True

    def create_log(
        self, partition: TopicPartition, topic_id: Uuid, config: LogConfig, *, now_ms: int
    ) -> Log:
        """Creates a partition's directory and its empty log, durably."""
        self.prepare_logs({partition: topic_id})
        return self.open_prepared_log(partition, config, now_ms=now_ms)

    def prepare_logs(self, topic_ids: Mapping[TopicPartition, Uuid]) -> None:
        """Creates the files of new partitions, durably. Touches nothing else, so it may run on a
        worker, or on several workers with some of the partitions each, which then share commits of
        the file system's journal.

        Writes everything before it syncs anything: on a journalling file system the first sync
        makes all names durable, and the others find little to do. Many partitions are synced as a
        whole.
        """
        disk = self._disk
        directories = [f"{self.path}/{partition}" for partition in topic_ids]
        for directory, topic_id in zip(directories, topic_ids.values(), strict=True):
            if disk.exists(directory):
                set_other_log_aside(disk, directory, topic_id)
            disk.make_directories(directory)
            begin_partition_metadata(disk, directory, topic_id)
            for name in _FIRST_FILES:
                disk.open(f"{directory}/{name}", create=True).close()
        if len(directories) >= TOGETHER_MIN:
            disk.sync_directories([*directories, self.path])
            return
        for directory in directories:
            sync_partition_metadata(disk, directory)
            disk.sync_directory(directory)
        disk.sync_directory(self.path)

    def open_prepared_log(
        self, partition: TopicPartition, config: LogConfig, *, now_ms: int
    ) -> Log:
        """Opens the log whose files `prepare_logs` has created."""
        assert partition not in self.logs, f"{partition} is in {self.path} already"
        if partition in self._outdated:
            # After a crash, this log must not get the checkpointed offsets of an earlier log of
            # this name.
            self.write_checkpoints()
        arguments = (self._disk, f"{self.path}/{partition}", partition, config)
        log = blank_log(*arguments, recovery_points=self, now_ms=now_ms)
        if log is None:
            log = open_log(*arguments, recovery_points=self, now_ms=now_ms, had_clean_shutdown=True)
        self.logs[partition] = log
        return log

    @property
    def id(self) -> Uuid | None:
        """The directory id in the metadata (KIP-858), or None if it was formatted without one."""
        if self._id is None:
            identity = read_meta_properties(self._disk, self.path)
            self._id = None if identity is None else identity.directory_id
        return self._id

    @property
    def total_bytes(self) -> int:
        return self._disk.space_total(self.path)

    @property
    def usable_bytes(self) -> int:
        return self._disk.space_left(self.path)

    def topic_id(self, partition: TopicPartition) -> Uuid | None:
        return read_partition_metadata(self._disk, f"{self.path}/{partition}")

    def promote(self, partition: TopicPartition, *, log_start_offset: int, now_ms: int) -> Log:
        """Turns a future log into the partition's log."""
        assert partition not in self.logs, f"{partition} is in {self.path} already"
        if partition in self._outdated:
            self.write_checkpoints()
        self.logs[partition] = self.futures.promote(
            partition, recovery_points=self, log_start_offset=log_start_offset, now_ms=now_ms
        )
        return self.logs[partition]

    def prepare_names(self, partitions: Iterable[TopicPartition]) -> None:
        """Called before logs get these names: the checkpoints may have offsets of earlier ones."""
        if not self._outdated.isdisjoint(partitions):
            self.write_checkpoints()

    def adopt(self, restored: RestoredLog) -> None:
        """Takes a log of a deleted topic into use again. The caller then writes the checkpoints."""
        log = restored.log
        assert log.partition not in self.logs, f"{log.partition} is in {self.path} already"
        log.advance_high_watermark(restored.high_watermark)
        restored.recovery_points.keeper = self
        self.logs[log.partition] = log

    def move_out(self, partition: TopicPartition) -> None:
        """Removes a log that has moved to another directory, as `let_go` does, but leaves it open
        for readers. Afterwards its files may be renamed."""
        del self.logs[partition]
        self.cleaner_offsets.forget(partition)
        self._outdated.add(partition)

    def set_aside(
        self, unique_ids: Mapping[TopicPartition, Uuid], state: DirectoryState
    ) -> list[str]:
        """Takes partitions out of use, durably, and returns the new paths of their directories. The
        caller purges them, or leaves them alone if they are strays, which belong to no partition of
        this node.

        Runs both steps at once. A serving node with thousands of partitions calls the two steps
        itself.
        """
        self.let_go(unique_ids)
        return self.rename_aside(unique_ids, state)

    def let_go(self, partitions: Iterable[TopicPartition]) -> None:
        """The first step: closes and removes the logs of the partitions. That takes some ten
        microseconds each, so an event loop passes about a hundred at a time. The directories keep
        their names until the second step; until then no new log may have these names."""
        gone = list(partitions)
        self.cleaner_offsets.forget(*gone)
        for partition in gone:
            log = self.logs.pop(partition, None)
            if log is not None:
                log.abandon()
            self.offline.pop(partition, None)
            self._unopened.pop(partition, None)
        self._outdated.update(gone)

    def rename_aside(
        self, unique_ids: Mapping[TopicPartition, Uuid], state: DirectoryState
    ) -> list[str]:
        """The second step, after `let_go`: renames the directories durably. Touches nothing else,
        so it may run on a worker. If it raises, some may have been renamed; the next load finds the
        others again and treats them as strays."""
        paths = []
        for partition, unique_id in unique_ids.items():
            assert partition not in self.logs, f"{partition} is still in use"
            path = f"{self.path}/{PartitionDirectoryName(partition, state, unique_id)}"
            self._disk.rename(f"{self.path}/{partition}", path)
            paths.append(path)
        self._disk.sync_directory(self.path)
        return paths

    def purge(self, deleted_path: str) -> None:
        """Deletes a directory that was set aside. Touches nothing else, so it may run on a
        worker."""
        for name in self._disk.list_directory(deleted_path):
            self._disk.remove(f"{deleted_path}/{name}")
        self._disk.remove_directory(deleted_path)

    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        """Durably lowers a partition's recovery point, and its cleaner offset if that is higher."""
        self.cleaner_offsets.truncate(partition, recovery_point)
        points = {known: offsets.recovery_point for known, offsets in self.offsets().items()}
        self._checkpoints.write_recovery_points(points | {partition: recovery_point})

    def write_checkpoints(self) -> None:
        """Writes recovery points, log start offsets and high watermarks, durably."""
        self.cleaner_offsets.write_outdated()
        self._checkpoints.write(self.offsets())
        self._outdated.clear()

    def close(self, *, broker_epoch: int) -> None:
        """Closes every log and writes the clean-shutdown marker, so the next load needs no
        recovery. If the load did not finish, leaves the directory as it was."""
        if not self._is_loaded:
            self.abandon()
            return
        flushes = {log: log.prepare_close() for log in self.logs.values()}
        run_together(self._disk, flushes.values())
        for log, flush in flushes.items():
            log.end(flush)
        self.futures.close()
        self.write_checkpoints()
        if not self.offline:
            write_clean_shutdown(self._disk, self.path, broker_epoch=broker_epoch)
        self._lock.close()

    def abandon(self) -> None:
        """Closes whatever can still be closed in a directory that has failed."""
        for log in self.logs.values():
            with suppress(OSError):
                log.abandon()
        self.futures.abandon()
        self._lock.close()

    def _doubt(self, log: Log) -> None:
        """Makes the next flush rewrite `partition.metadata`: the previous process may have ended
        after a failed sync of it."""
        path = f"{log.directory}/{PARTITION_METADATA}"
        if self._disk.exists(path):
            log.doubted_path = path

    def _find_partitions(self) -> list[TopicPartition]:
        """The live partitions of this directory."""
        found = []
        for name in self._disk.list_directory(self.path):
            if not self._disk.is_directory(f"{self.path}/{name}"):
                continue
            try:
                parsed = PartitionDirectoryName.parse(name)
            except ValueError:
                continue
            if parsed.partition.topic == METADATA_TOPIC:
                continue
            if parsed.state is DirectoryState.LIVE:
                found.append(parsed.partition)
            elif parsed.state is DirectoryState.FUTURE:
                self._found_futures.append(parsed)
            elif parsed.state is DirectoryState.DELETE:
                self.deleted.found(parsed)
        return found

    def offsets(self) -> dict[TopicPartition, LogOffsets]:
        """Of all partitions, open or not."""
        return self._unopened | {
            partition: LogOffsets.of(log) for partition, log in self.logs.items()
        }
