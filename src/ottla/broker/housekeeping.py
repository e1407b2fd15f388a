"""The chores of a node: retention, syncing, checkpoints, compaction, idle connections.

Each runs in a task of its own, at its own interval, and in small steps: between two logs it lets
the loop go on whenever it has taken a few milliseconds. What blocks for long (a sync) or calculates
for long (a compaction) goes to the background. A chore that meets a failing disk takes that disk
offline and goes on with the others.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

from ottla.broker.broker import Broker
from ottla.broker.compaction import Compaction
from ottla.runtime.background import Background
from ottla.runtime.metrics import Metrics
from ottla.storage.log import Log

_log = logging.getLogger(__name__)

# A chore gives the loop back after this long.
_STEP_SECONDS = 0.002
_LOOP_DELAY_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Intervals:
    """How often each chore is done, in seconds."""

    retention: float
    flush: float
    checkpoints: float
    producer_expiry: float
    compaction: float
    idle_connections: float
    in_sync_replicas: float


class Housekeeping:
    """Started by the node once its logs are open; its tasks end with the node's."""

    def __init__(
        self,
        broker: Broker,
        background: Background,
        metrics: Metrics,
        *,
        intervals: Intervals,
        connection_idle_seconds: float,
    ) -> None:
        self._broker = broker
        self._clock = broker.clock
        self._background = background
        self._intervals = intervals
        self._connection_idle_seconds = connection_idle_seconds
        self._compaction = Compaction(broker, background, metrics)
        self._loop_delay = metrics.histogram("EventLoopDelayMs")
        self._deleted_segments = metrics.counter("LogSegmentsDeleted")
        self._flushes = metrics.histogram("LogFlushTimeMs")

    def start(self) -> None:
        chores: dict[str, tuple[float, Callable[[], Coroutine[Any, Any, None]]]] = {
            "retention": (self._intervals.retention, self._retain),
            "flush": (self._intervals.flush, self._flush),
            "checkpoints": (self._intervals.checkpoints, self._write_checkpoints),
            "producer expiry": (self._intervals.producer_expiry, self._expire_producers),
            "compaction": (self._intervals.compaction, self._compaction.compact_filthiest),
            "idle connections": (self._intervals.idle_connections, self._close_idle),
            "in-sync replicas": (
                self._intervals.in_sync_replicas,
                self._broker.replication.look_at_isrs,
            ),
        }
        for name, (seconds, chore) in chores.items():
            self._broker.tasks.start(name, self._repeat(seconds, chore))
        self._broker.tasks.start("loop delay", self._measure_loop_delay())

    async def _repeat(self, seconds: float, chore: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while True:
            await self._clock.sleep(self._broker.dice.jitter(seconds, fraction=0.1))
            await chore()

    async def _logs(self, logs: Iterable[Log] | None = None) -> AsyncIterator[Log]:
        """All logs or those given, a few milliseconds' worth at a time. One that went meanwhile is
        left out."""
        started = self._clock.monotonic()
        for log in list(self._broker.logs if logs is None else logs):
            if self._broker.logs.get(log.partition) is not log:
                continue
            yield log
            if self._clock.monotonic() - started > _STEP_SECONDS:
                await self._clock.sleep(0)
                started = self._clock.monotonic()

    async def _retain(self) -> None:
        async for log in self._logs():
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
                    "%s: retention let go of %d segments; the log starts at %d",
                    log.partition,
                    len(deleted),
                    log.log_start_offset,
                )

    async def _flush(self) -> None:
        """Makes rolled segments durable, and logs whose `flush.ms` has passed."""
        # Found without a step for each, for of thousands of logs few were written to.
        unflushed = [log for log in self._broker.logs if log.recovery_point < log.log_end_offset]
        async for log in self._logs(unflushed):
            if log.recovery_point < log.segments.active.base_offset or self._is_due(log):
                await self._flush_log(log)

    def _is_due(self, log: Log) -> bool:
        unflushed = log.log_end_offset - log.recovery_point
        return unflushed > 0 and (
            unflushed >= log.config.flush_messages
            or log.config.flush_ms <= self._intervals.flush * 1_000
        )

    async def _flush_log(self, log: Log) -> None:
        started = self._clock.monotonic()
        try:
            flush = log.prepare_flush()
            if flush is not None:
                await self._background.run(flush.run)
                log.complete_flush(flush)
        except OSError as error:
            self._failed(log, error)
        self._flushes.record((self._clock.monotonic() - started) * 1_000)

    async def _write_checkpoints(self) -> None:
        for directory in self._broker.logs.directories:
            try:
                directory.write_checkpoints()
            except OSError as error:
                told = self._broker.directory_failed(directory.path, error)
                _log.error("no checkpoints in %s: %s", directory.path, told.message)

    async def _expire_producers(self) -> None:
        async for log in self._logs():
            log.producers.state.remove_expired(self._clock.now_ms())

    async def _close_idle(self) -> None:
        now = self._clock.monotonic()
        for connection in list(self._broker.connections):
            if now - connection.last_active <= self._connection_idle_seconds:
                continue
            if connection.is_closing:
                # It had a chance to read its answers.
                connection.abort()
            else:
                connection.close()

    async def _measure_loop_delay(self) -> None:
        while True:
            started = self._clock.monotonic()
            await self._clock.sleep(_LOOP_DELAY_SECONDS)
            delay = self._clock.monotonic() - started - _LOOP_DELAY_SECONDS
            self._loop_delay.record(max(delay, 0.0) * 1_000)

    def _failed(self, log: Log, error: OSError) -> None:
        told = self._broker.log_failed(log, error)
        _log.error("%s: %s", log.partition, told)
