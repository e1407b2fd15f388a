"""Log compaction of a node: selects the dirtiest log and compacts it in the background."""

from __future__ import annotations

import logging

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.metrics import Metrics
from ottla.metrics.table import storage as table
from ottla.model import KafkaError
from ottla.runtime.background import Background, WorkerCrashedError
from ottla.runtime.clock import Clock
from ottla.runtime.disk import Disk
from ottla.runtime.system_clock import sleep_blocking
from ottla.storage.compaction import (
    CompactionPlan,
    CompactionResult,
    compact,
    plan_compaction,
    swap_groups,
)
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_store import LogStore
from ottla.storage.errors import StorageError
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log

_log = logging.getLogger(__name__)

# Rates above this mean no throttle: Kafka's default rate is the largest double.
_NO_THROTTLE = 1e15


class Compaction:
    """Compacts one log at a time. Planning and swapping segments run here, the compaction itself in
    a worker process."""

    def __init__(
        self,
        cluster: ClusterView,
        clock: Clock,
        background: Background,
        logs: LogStore,
        commit: GroupCommit,
        failures: StorageFailures,
        metrics: Metrics,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._logs = logs
        self._commit = commit
        self._failures = failures
        self._background = background
        self._records_read = metrics.counter(table.CLEANER_READ_RECORDS)
        self._records_kept = metrics.counter(table.CLEANER_KEPT_RECORDS)
        self._seconds = metrics.histogram(table.CLEANER_SECONDS)
        # Logs whose compaction failed, with their end offset. Retried when the log has grown.
        self._failed: dict[Log, int] = {}
        metrics.measure(table.CLEANER_FAILED_PARTITIONS, lambda: [((), len(self._failed))])

    async def compact_filthiest(self) -> None:
        """Compacts all logs that are due, the dirtiest first."""
        while self._cluster.config.log_cleaner_enable:
            self._forget_removed()
            due = [
                (_dirty_ratio(plan), directory, log, plan)
                for directory in self._logs.directories
                for log in list(directory.logs.values())
                if log.config.compact and (plan := await self._plan(directory, log)) is not None
            ]
            if not due:
                return
            _, directory, log, plan = max(due, key=lambda each: each[0])
            await self._compact(directory, log, plan)

    def _forget_removed(self) -> None:
        """Logs that were deleted or moved are not counted, nor kept in memory."""
        removed = [log for log in self._failed if self._logs.get(log.partition) is not log]
        for log in removed:
            del self._failed[log]

    async def _plan(self, directory: LogDirectory, log: Log) -> CompactionPlan | None:
        if self._failed.get(log) == log.log_end_offset:
            return None
        config = self._cluster.config
        rate = config.log_cleaner_io_max_bytes_per_second
        try:
            # Compact only durable records: then truncating compacted records always lowers the
            # recovery point, and with it the cleaner's offset.
            await self._commit.when_durable(log, log.segments.active.base_offset)
            first_dirty_offset = directory.cleaner_offsets.first_dirty_offset(log)
            now_ms = self._clock.now_ms()
            return plan_compaction(
                log,
                first_dirty_offset=first_dirty_offset,
                now_ms=now_ms,
                memory_bytes=config.log_cleaner_dedupe_buffer_size,
                bytes_per_second=None if rate > _NO_THROTTLE else rate,
            )
        except OSError as error:
            self._failures.log_failed(log, error)
            return None
        except KafkaError as error:
            _log.info("%s was truncated while it was flushed: %s", log.partition, error)
            return None

    async def _compact(self, directory: LogDirectory, log: Log, plan: CompactionPlan) -> None:
        clock = self._clock
        started = clock.monotonic()
        try:
            result = await self._background.compute(_compact_throttled, log.disk, plan)
            swapped = 0
            for _ in swap_groups(log, result, now_ms=clock.now_ms()):
                swapped += 1
                await clock.sleep(0)
            if swapped < len(result.groups):
                return
            directory.cleaner_offsets.advance(log.partition, result.first_dirty_offset)
        except (StorageError, WorkerCrashedError) as error:
            self._failed[log] = log.log_end_offset
            _log.error("%s cannot be compacted and stays as it is: %s", log.partition, error)
            return
        except OSError as error:
            if self._logs.get(log.partition) is not log:
                # Not a disk error: the log was deleted or moved meanwhile.
                return
            self._failed[log] = log.log_end_offset
            self._failures.log_failed(log, error)
            return
        self._failed.pop(log, None)
        self._records_read.add(result.records_read)
        self._records_kept.add(result.records_kept)
        seconds = clock.monotonic() - started
        self._seconds.record(seconds)
        if result.unreadable_count:
            _log.warning(
                "%s: compaction kept batches whose checksum is correct but whose records cannot "
                "be read. A producer with a bug wrote them; ottla.record.validation=record "
                "rejects such batches. Number of batches: %d. The first: %s",
                log.partition,
                result.unreadable_count,
                "; ".join(map(str, result.unreadable)),
            )
        _log.info(
            "%s: compacted; records before: %d, after: %d; seconds: %.1f",
            log.partition,
            result.records_read,
            result.records_kept,
            seconds,
        )


def _compact_throttled(disk: Disk, plan: CompactionPlan) -> CompactionResult:
    return compact(disk, plan, sleep=sleep_blocking)


def _dirty_ratio(plan: CompactionPlan) -> float:
    total = sum(segment.size for segment in plan.segments)
    dirty = sum(
        segment.size for segment in plan.segments if segment.end_offset > plan.first_dirty_offset
    )
    return dirty / total if total else 0.0
