"""Moves logs between this node's directories while they are in use (AlterReplicaLogDirs, KIP-113).

    requested ──▶ copying ──caught up──▶ flushed, controller notified ──▶ swapped ──▶ old log purged
                     │ ▲
                     │ └──log truncated: restart from its start offset
                     └──cancelled, or partition removed──▶ discarded

All records are copied, committed or not, in the background and at most at
`replica.alter.log.dirs.io.max.bytes.per.second`. The check that the future log has everything and
the swap run in the same turn of the loop, so that no append comes in between. A move continues
after a restart, because the future log is in the target directory.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.directory_assignments import assign_directories
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.configs.definition import LONG_MAX
from ottla.model import KafkaError, TopicPartition
from ottla.replication.byte_rate import ByteRate
from ottla.replication.following import append_as_follower
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_store import LogStore
from ottla.storage.files.file_names import DirectoryState
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log

_log = logging.getLogger(__name__)

_PIECE_BYTES: Final = 1 << 20
_THROTTLED_SECONDS: Final = 0.1
_DRAIN_STEP_SECONDS: Final = 0.01


class LogMoves:
    """Created with the broker, owned by the node's loop. A partition has at most one move."""

    def __init__(
        self,
        cluster: ClusterView,
        controller: ActiveController,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        background: Background,
        logs: LogStore,
        partitions: Partitions,
        commit: GroupCommit,
        failures: StorageFailures,
    ) -> None:
        self._cluster = cluster
        self._controller = controller
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._logs = logs
        self._partitions = partitions
        self._commit = commit
        self._failures = failures
        self._background = background
        # Called with a partition that has another log now.
        self.on_swapped: Callable[[Partition], None] = lambda _: None
        self._moves: dict[TopicPartition, _Move] = {}
        # The requested log directory of replicas that this node does not have yet.
        self.requested_paths: dict[TopicPartition, str] = {}
        self._bytes = ByteRate(
            windows_max=cluster.config.alter_log_dirs_replication_quota_window_num,
            window_seconds=cluster.config.alter_log_dirs_replication_quota_window_size_seconds,
        )

    def move(self, partition: Partition, directory: LogDirectory) -> None:
        """Starts to move a partition's log. If the log already is in `directory`, only cancels the
        move in progress. Raises `KafkaError` or `OSError`."""
        log, now_ms = partition.require_log(), self._clock.now_ms()
        under_way = self._moves.get(partition.name)
        if under_way is not None and under_way.target is directory:
            return
        if under_way is not None:
            self.cancel(partition.name)
        if partition.name in directory.logs:
            return
        directory.futures.begin(
            partition.name,
            partition.topic_id,
            log.config,
            unique_id=self._dice.uuid(),
            start_offset=log.log_start_offset,
            now_ms=now_ms,
        )
        self._begin(partition, directory)

    def resume(self) -> None:
        """Continues the moves that a restart interrupted. Called once, after loading."""
        for directory in self._logs.directories:
            for name in list(directory.futures):
                partition = self._partitions.get(name)
                future = directory.futures.get(name)
                log = None if partition is None else partition.log
                if partition is None or log is None or future is None or name in directory.logs:
                    self._discard(directory, name)
                    continue
                # After a crash the two logs may differ above the high watermark.
                future.truncate_to(log.high_watermark, now_ms=self._clock.now_ms())
                self._begin(partition, directory)

    def cancel(self, name: TopicPartition) -> None:
        """Cancels the partition's move, if there is one."""
        under_way = self._moves.pop(name, None)
        if under_way is not None:
            self._discard(under_way.target, name)

    def _begin(self, partition: Partition, target: LogDirectory) -> None:
        future = target.futures.get(partition.name)
        assert future is not None
        moving = self._moves[partition.name] = _Move(partition, target, future)
        self._tasks.start(f"move of {partition.name}", self._run(moving))

    def _discard(self, directory: LogDirectory, name: TopicPartition) -> None:
        if directory.futures.get(name) is None:
            return
        try:
            path = directory.futures.discard(name)
        except OSError as error:
            self._failures.directory_failed(directory.path, error)
        else:
            self._tasks.start("purge", self._purge(directory, path))

    # ---- one move

    async def _run(self, moving: _Move) -> None:
        partition, target = moving.partition, moving.target
        _log.info("moving %s to %s", partition.name, target.path)
        try:
            # The second copy adds the records appended while the controller was notified.
            if (
                await self._copy(moving)
                and await self._make_known(moving)
                and await self._copy(moving)
            ):
                self._swap(moving)
        except KafkaError as error:
            _log.error("%s cannot be copied to %s: %s", partition.name, target.path, error)
        except OSError as error:
            _log.error("%s cannot be moved to %s: %s", partition.name, target.path, error)
            self._failures.directory_failed(target.path, error)
        if self._moves.get(partition.name) is moving:
            self.cancel(partition.name)

    def _is_on(self, moving: _Move) -> bool:
        partition = moving.partition
        return (
            self._moves.get(partition.name) is moving
            and self._partitions.get(partition.name) is partition
            and partition.log is not None
            and moving.target in self._logs.directories
        )

    async def _copy(self, moving: _Move) -> bool:
        """Copies until the future log has all records. Returns False if the move ended before."""
        clock = self._clock
        while self._is_on(moving):
            if self._is_throttled():
                await clock.sleep(_THROTTLED_SECONDS)
                continue
            log, truncations = moving.next_log(now_ms=clock.now_ms())
            end = moving.future.log_end_offset
            piece = log.read(end, bytes_max=_PIECE_BYTES, upper_offset=log.log_end_offset)
            if piece is None:
                return True
            records = await self._background.run(piece.read)
            if self._is_on(moving) and moving.log is log and log.truncations == truncations:
                append_as_follower(
                    moving.future,
                    records,
                    leader_epoch=moving.partition.leader_epoch,
                    now_ms=clock.now_ms(),
                )
                self._bytes.record(len(records), now=clock.monotonic())
        return False

    def _is_throttled(self) -> bool:
        rate_max = self._cluster.config.replica_alter_log_dirs_io_max_bytes_per_second
        now = self._clock.monotonic()
        return rate_max < LONG_MAX and self._bytes.per_second(now=now) > rate_max

    async def _make_known(self, moving: _Move) -> bool:
        """Flushes the future log and reports its directory to the controller, before the swap. So
        if the node crashes, the metadata says which of the two logs to use."""
        flush = moving.future.prepare_flush()
        if flush is not None:
            await self._background.run(flush.run)
            moving.future.complete_flush(flush)
        directory_id, partition = moving.target.id, moving.partition
        if directory_id is not None:
            replica = partition.topic_id, partition.name.partition
            await assign_directories(
                self._cluster, self._controller, self._clock, {directory_id: [replica]}
            )
        return self._is_on(moving)

    def _swap(self, moving: _Move) -> None:
        partition, target, now_ms = moving.partition, moving.target, self._clock.now_ms()
        old, source = partition.require_log(), self._directory_of(partition)
        new = target.promote(partition.name, log_start_offset=old.log_start_offset, now_ms=now_ms)
        assert new.log_end_offset == old.log_end_offset, f"{partition.name} is incomplete"
        new.reconfigure(old.config)
        new.advance_high_watermark(old.high_watermark)
        source.move_out(partition.name)
        partition.log = new
        del self._moves[partition.name]
        self.on_swapped(partition)
        _log.info("moved %s to %s", partition.name, target.path)
        self._tasks.start("old log", self._remove_old(source, old))

    async def _remove_old(self, source: LogDirectory, old: Log) -> None:
        clock, commit = self._clock, self._commit
        while commit.is_syncing(old):
            await clock.sleep(_DRAIN_STEP_SECONDS)
        aside = {old.partition: self._dice.uuid()}
        try:
            (path,) = await self._background.run(source.rename_aside, aside, DirectoryState.DELETE)
        except OSError as error:
            self._failures.directory_failed(source.path, error)
            return
        # Pending reads may still use the files.
        await clock.sleep(old.config.file_delete_delay_ms / 1_000)
        old.abandon()
        await self._purge(source, path)

    def _directory_of(self, partition: Partition) -> LogDirectory:
        return next(
            directory
            for directory in self._logs.directories
            if directory.logs.get(partition.name) is partition.log
        )

    async def _purge(self, directory: LogDirectory, path: str) -> None:
        try:
            await self._background.run(directory.purge, path)
        except OSError as error:
            _log.warning("cannot remove %s now; the next start removes it: %s", path, error)


class _Move:
    """One move: the log that is copied and the future log."""

    def __init__(self, partition: Partition, target: LogDirectory, future: Log) -> None:
        self.partition = partition
        self.target = target
        self.future = future
        self.log = partition.require_log()
        self._truncations = self.log.truncations

    def next_log(self, *, now_ms: int) -> tuple[Log, int]:
        """The partition's current log and its truncation count. Restarts the copy if the log was
        truncated or replaced."""
        log, end = self.partition.require_log(), self.future.log_end_offset
        agrees = log is self.log and log.truncations == self._truncations
        if not agrees or not log.log_start_offset <= end <= log.log_end_offset:
            self.log, self._truncations = log, log.truncations
            self.future.truncate_fully(log.log_start_offset, now_ms=now_ms)
        return log, log.truncations
