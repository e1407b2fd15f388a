"""Group commit: one sync serves every append that has to be durable before it is acknowledged, and
every background job that needs durable offsets.

Appends that arrive while a sync of their log runs wait for the next one, which covers all of them.
The number of syncs therefore depends on how long a sync takes, not on the number of appends. Only
`GroupCommit` may sync a log that is being served: two concurrent syncs would write the same files.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ottla.model import ErrorCode, KafkaError
from ottla.runtime.background import Background
from ottla.runtime.tasks import Tasks
from ottla.storage.log.log import Log


class GroupCommit:
    """Belongs to one event loop. Syncs a log only while an append or a job waits for it."""

    def __init__(
        self,
        background: Background,
        tasks: Tasks,
        *,
        monotonic: Callable[[], float] = lambda: 0.0,
        on_timed: Callable[[float], None] = lambda _seconds: None,
    ) -> None:
        """`on_timed` is called with the duration of each sync."""
        self._monotonic = monotonic
        self._on_timed = on_timed
        self._background = background
        self._tasks = tasks
        # For each log, the offsets that have to become durable and the futures that wait for them.
        self._waiting: dict[Log, list[tuple[int, asyncio.Future[None]]]] = {}
        self._listeners: list[Callable[[Log], None]] = []

    def listen(self, synced: Callable[[Log], None]) -> None:
        """Registers a callback that runs after each sync of a log, before the waiting futures are
        completed."""
        self._listeners.append(synced)

    def when_durable(self, log: Log, offset: int) -> asyncio.Future[None]:
        """Completes when everything below `offset` is on the device. Fails with the `OSError` of a
        failed sync, or with a `KafkaError` if the append was truncated or the log removed."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if log.recovery_point >= offset:
            future.set_result(None)
        elif log in self._waiting:
            self._waiting[log].append((offset, future))
        else:
            self._waiting[log] = [(offset, future)]
            self._tasks.start(f"sync of {log.partition}", self._sync(log))
        return future

    def is_syncing(self, log: Log) -> bool:
        return log in self._waiting

    async def _sync(self, log: Log) -> None:
        """Syncs until no future waits for this log."""
        while self._waiting[log]:
            flush = log.prepare_flush()
            try:
                if flush is not None:
                    started = self._monotonic()
                    await self._background.run(flush.run)
                    self._on_timed(self._monotonic() - started)
                    log.complete_flush(flush)
                    for synced in self._listeners:
                        synced(log)
            except OSError as error:
                # If the log was removed or renamed meanwhile, the error does not mean that the disk
                # failed.
                failure = _gone(log) if log.is_abandoned else error
                for _, future in self._waiting.pop(log):
                    _end(future, failure)
                return
            self._waiting[log] = [each for each in self._waiting[log] if not _maybe_end(log, *each)]
        del self._waiting[log]


def _maybe_end(log: Log, offset: int, future: asyncio.Future[None]) -> bool:
    if offset > log.log_end_offset:
        _end(
            future,
            KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{log.partition} has a new leader"),
        )
    elif offset <= log.recovery_point:
        _end(future, None)
    else:
        return False
    return True


def _gone(log: Log) -> KafkaError:
    return KafkaError(
        ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{log.partition} is no longer on this node"
    )


def _end(future: asyncio.Future[None], error: Exception | None) -> None:
    if future.done():
        return  # The waiting task was cancelled.
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
