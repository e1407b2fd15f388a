"""Flushes the logs that `flush.messages` or `flush.ms` make due, and all rolled segments.

As in Kafka, a log with unflushed records is due when `flush.ms` has passed since its last flush, no
matter why it was flushed. For a log that was not flushed yet, the time counts from when its first
unflushed records were seen.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final
from weakref import WeakKeyDictionary

from ottla.model import KafkaError
from ottla.runtime.clock import Clock
from ottla.storage.directories.log_store import LogStore
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log
from ottla.storage.log_config import NEVER_MS

_log = logging.getLogger(__name__)

# Checking this many logs for unflushed records takes about a millisecond.
_GLANCED_AT_MAX: Final = 2_000


class Flushing:
    """Owned by `Housekeeping`, which runs `flush_due` once per interval."""

    def __init__(
        self,
        clock: Clock,
        logs: LogStore,
        commit: GroupCommit,
        on_failed: Callable[[Log, OSError], None],
        *,
        interval_seconds: float,
    ) -> None:
        self._clock = clock
        self._logs = logs
        self._commit = commit
        self._on_failed = on_failed
        self._interval_ms = interval_seconds * 1_000
        # In seconds of the monotonic clock. Entries end with their logs.
        self._flushed_at: WeakKeyDictionary[Log, float] = WeakKeyDictionary()
        commit.listen(self._synced)

    async def flush_due(self) -> None:
        # Does not read the clock for each log: of thousands of logs few have anything to flush.
        now = self._clock.monotonic()
        for number, log in enumerate(list(self._logs), start=1):
            if log.recovery_point < log.log_end_offset and self._is_due(log, now):
                await self._flush(log)
                now = self._clock.monotonic()
            if number % _GLANCED_AT_MAX == 0:
                await self._clock.sleep(0)

    def _is_due(self, log: Log, now: float) -> bool:
        recovery_point, config = log.recovery_point, log.config
        return (
            recovery_point < log.segments.active.base_offset
            or log.log_end_offset - recovery_point >= config.flush_messages
            or config.flush_ms <= self._interval_ms
            or (log.delay_gate is not None and log.delay_gate.flushes_to > recovery_point)
            or (config.flush_ms != NEVER_MS and self._unflushed_ms(log, now) >= config.flush_ms)
        ) and self._logs.get(log.partition) is log

    def _unflushed_ms(self, log: Log, now: float) -> float:
        return (now - self._flushed_at.setdefault(log, now)) * 1_000

    async def _flush(self, log: Log) -> None:
        try:
            await self._commit.when_durable(log, log.log_end_offset)
        except OSError as error:
            self._on_failed(log, error)
        except KafkaError as error:
            _log.info("%s was truncated while it was flushed: %s", log.partition, error)

    def _synced(self, log: Log) -> None:
        self._flushed_at[log] = self._clock.monotonic()
