"""Periodic tasks of a node: retention, strays, syncing, checkpoints, compaction, idle connections.

Each runs in its own task at its own interval, and yields to the loop between two logs after a few
milliseconds. Blocking work (syncs) and long computations (compaction) run in the background. A disk
error takes that log directory offline; the task continues with the others.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from math import inf
from typing import Any

from ottla.broker.chores.compaction import Compaction
from ottla.broker.chores.deleted_space import DeletedSpace
from ottla.broker.chores.flushing import Flushing
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.connections import Connections
from ottla.broker.replicas.replication import Replication
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.replicas.stray_expiry import StrayExpiry
from ottla.configs import NodeConfig
from ottla.metrics import Metrics
from ottla.metrics.table import process, storage
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.storage.directories.log_store import LogStore
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log

_log = logging.getLogger(__name__)

# A task yields to the loop after this long.
_STEP_SECONDS = 0.002
_LOOP_DELAY_SECONDS = 0.25
# Rolled segments are flushed at this interval, even without `flush.ms`.
_FLUSH_SECONDS = 1.0
_IDLE_CHECK_SECONDS = 10.0
# A disk must not fill up between two checks.
_SPACE_CHECK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Intervals:
    """The interval of each task, in seconds."""

    retention: float
    flush: float
    checkpoints: float
    producer_expiry: float
    compaction: float
    idle_connections: float
    in_sync_replicas: float

    @classmethod
    def of(cls, config: NodeConfig) -> Intervals:
        return cls(
            retention=config.log_retention_check_interval_ms / 1_000,
            flush=min(_FLUSH_SECONDS, config.log_flush_scheduler_interval_ms / 1_000),
            checkpoints=config.log_flush_offset_checkpoint_interval_ms / 1_000,
            producer_expiry=config.producer_id_expiration_check_interval_ms / 1_000,
            compaction=config.log_cleaner_backoff_ms / 1_000,
            idle_connections=min(_IDLE_CHECK_SECONDS, connection_idle_seconds(config) / 4),
            in_sync_replicas=config.replica_lag_time_max_ms / 2_000,
        )


def connection_idle_seconds(config: NodeConfig) -> float:
    """The idle time after which a connection is closed. As in Kafka, a negative
    `connections.max.idle.ms` disables this."""
    idle_ms = config.connections_max_idle_ms
    return idle_ms / 1_000 if idle_ms >= 0 else inf


class Housekeeping:
    """Created when the node serves. Its tasks end with the node's."""

    def __init__(
        self,
        cluster: ClusterView,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        background: Background,
        logs: LogStore,
        commit: GroupCommit,
        replication: Replication,
        failures: StorageFailures,
        connections: Connections,
        metrics: Metrics,
        deleted_space: DeletedSpace,
        *,
        intervals: Intervals,
        connection_idle_seconds: float,
    ) -> None:
        self._dice = dice
        self._tasks = tasks
        self._logs = logs
        self._replication = replication
        self._failures = failures
        self._connections = connections
        self._clock = clock
        self._intervals = intervals
        self._connection_idle_seconds = connection_idle_seconds
        self._deleted_space = deleted_space
        self._strays = StrayExpiry(cluster, logs, clock, background)
        self._compaction = Compaction(cluster, clock, background, logs, commit, failures, metrics)
        self._loop_delay = metrics.histogram(process.EVENT_LOOP_DELAY)
        self._deleted_segments = metrics.counter(storage.SEGMENTS_DELETED)
        self._expired_producers = metrics.counter(storage.PRODUCER_IDS_EXPIRED)
        self._flushing = Flushing(
            clock, logs, commit, self._failed, interval_seconds=intervals.flush
        )

    def start(self) -> None:
        chores: dict[str, tuple[float, Callable[[], Coroutine[Any, Any, None]]]] = {
            "retention": (self._intervals.retention, self._retain),
            "strays": (self._intervals.retention, self._strays.remove_expired),
            "space of deleted topics": (_SPACE_CHECK_SECONDS, self._deleted_space.free),
            "flush": (self._intervals.flush, self._flushing.flush_due),
            "checkpoints": (self._intervals.checkpoints, self._write_checkpoints),
            "producer expiry": (self._intervals.producer_expiry, self._expire_producers),
            "compaction": (self._intervals.compaction, self._compaction.compact_filthiest),
            "idle connections": (self._intervals.idle_connections, self._close_idle),
            "in-sync replicas": (
                self._intervals.in_sync_replicas,
                self._replication.look_at_isrs,
            ),
        }
        for name, (seconds, chore) in chores.items():
            self._tasks.start(name, self._repeat(seconds, chore))
        self._tasks.start("loop delay", self._measure_loop_delay())

    async def _repeat(self, seconds: float, chore: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while True:
            await self._clock.sleep(self._dice.jitter(seconds, fraction=0.1))
            await chore()

    async def _each_log(self) -> AsyncIterator[Log]:
        """All logs. Yields to the loop after a few milliseconds; skips logs removed meanwhile."""
        started = self._clock.monotonic()
        for log in list(self._logs):
            if self._logs.get(log.partition) is not log:
                continue
            yield log
            if self._clock.monotonic() - started > _STEP_SECONDS:
                await self._clock.sleep(0)
                started = self._clock.monotonic()

    async def _retain(self) -> None:
        async for log in self._each_log():
            now_ms = self._clock.now_ms()
            try:
                deleted = log.delete_expired_segments(now_ms=now_ms)
                log.retired.purge(now_ms=now_ms)
            except OSError as error:
                self._failed(log, error)
                continue
            if deleted:
                self._deleted_segments.add(len(deleted))
                _log.info(
                    "%s: segments removed by retention: %d; log start offset: %d",
                    log.partition,
                    len(deleted),
                    log.log_start_offset,
                )

    async def _write_checkpoints(self) -> None:
        for directory in self._logs.directories:
            try:
                directory.write_checkpoints()
            except OSError as error:
                failure = self._failures.directory_failed(directory.path, error)
                _log.error(
                    "cannot write the checkpoints in %s: %s", directory.path, failure.message
                )

    async def _expire_producers(self) -> None:
        async for log in self._each_log():
            self._expired_producers.add(log.producers.state.remove_expired(self._clock.now_ms()))

    async def _close_idle(self) -> None:
        now = self._clock.monotonic()
        for connection in self._connections:
            if now - connection.last_active <= self._connection_idle_seconds:
                continue
            if connection.is_closing:
                # The client has had an interval to read its last responses.
                connection.abort()
            else:
                connection.close()

    async def _measure_loop_delay(self) -> None:
        while True:
            started = self._clock.monotonic()
            await self._clock.sleep(_LOOP_DELAY_SECONDS)
            delay = self._clock.monotonic() - started - _LOOP_DELAY_SECONDS
            self._loop_delay.record(max(delay, 0.0))

    def _failed(self, log: Log, error: OSError) -> None:
        failure = self._failures.log_failed(log, error)
        _log.error("%s: %s", log.partition, failure)
