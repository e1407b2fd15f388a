"""Syncing for many at once: appends that promised to be durable before they are acknowledged, and
chores that need what is durable.

While one sync of a log runs, whoever appends to it waits for the next; that one covers them all. So
the number of syncs depends on how long a sync takes and not on how many wait for one. Of a log that
is served, nobody else may sync: two at a time would write the same files.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ottla.model import ErrorCode, KafkaError
from ottla.runtime.background import Background
from ottla.runtime.tasks import Tasks
from ottla.storage.log.log import Log


class GroupCommit:
    """Belongs to one event loop. A log is synced only while somebody waits for it."""

    def __init__(self, background: Background, tasks: Tasks) -> None:
        self._background = background
        self._tasks = tasks
        # The offsets below which each waiting append has to be durable.
        self._waiting: dict[Log, list[tuple[int, asyncio.Future[None]]]] = {}
        self._listeners: list[Callable[[Log], None]] = []

    def listen(self, synced: Callable[[Log], None]) -> None:
        """Has `synced` called after each sync of a log, before those who waited for it go on."""
        self._listeners.append(synced)

    def when_durable(self, log: Log, offset: int) -> asyncio.Future[None]:
        """Done when everything below `offset` is on the device. Ends with the `OSError` of a sync
        that failed, or a `KafkaError` if the append was truncated meanwhile, or its log removed."""
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
        """Syncs until nobody waits for this log."""
        while self._waiting[log]:
            flush = log.prepare_flush()
            try:
                if flush is not None:
                    await self._background.run(flush.run)
                    log.complete_flush(flush)
                    for synced in self._listeners:
                        synced(log)
            except OSError as error:
                # The disk has not failed if the log was taken away meanwhile.
                told = _gone(log) if log.is_abandoned else error
                for _, future in self._waiting.pop(log):
                    _end(future, told)
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
    return KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{log.partition} is not here any more")


def _end(future: asyncio.Future[None], error: Exception | None) -> None:
    if future.done():
        return  # Whoever waited has given up.
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
