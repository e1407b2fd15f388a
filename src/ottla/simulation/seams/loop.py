"""One simulated process' event loop: asyncio's own tasks, futures and timers on virtual time.

    running ◀──pause, resume──▶ paused
       └──────────── end ─────────┴──▶ ended

A loop that has ended runs nothing any more, not even the cleanup of its tasks: that is what killing
a process is. They are kept until the world closes, because a task that is collected as garbage
would clean up after all.
"""

from __future__ import annotations

import asyncio
from asyncio import _set_running_loop
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context
from typing import Any, Final, TypeAlias, TypeVar

from ottla.simulation.seams.scheduler import ScheduledCall, ScheduledLoop, Scheduler

T = TypeVar("T")
ErrorContext: TypeAlias = dict[str, Any]

_TASKS_KEPT_MIN: Final = 256
_CLOSES_MAX: Final = 10


class SimulatedLoop(ScheduledLoop):
    """Made for each process anew. `on_error` hears what asyncio would log."""

    def __init__(
        self, scheduler: Scheduler, name: str, on_error: Callable[[str, ErrorContext], None]
    ) -> None:
        self.name = name
        self.is_running_now = True
        self.has_ended = False
        # Called after each step of this process.
        self.look: Callable[[], object] = lambda: None
        self._scheduler = scheduler
        self._on_error = on_error
        self._deferred: deque[ScheduledCall] = deque()
        self._pauses = 0
        self._tasks: list[asyncio.Task[Any]] = []
        self._tasks_max = _TASKS_KEPT_MIN

    # ---- the life of a process

    def pause(self) -> None:
        """Stops it until as many calls of `resume`. What falls due meanwhile waits."""
        self._pauses += 1
        self.is_running_now = False

    def resume(self) -> None:
        self._pauses -= 1
        if self._pauses == 0 and not self.has_ended:
            self.is_running_now = True
            while self._deferred:
                self._scheduler.add_ready(self._deferred.popleft())

    def end(self) -> None:
        self.has_ended = True
        self.is_running_now = False
        self._deferred.clear()

    def defer(self, call: ScheduledCall) -> None:
        if not self.has_ended:
            self._deferred.append(call)

    def forget(self) -> None:
        """Lets go of its tasks. Only when the world is over: they clean up now, and whatever they
        begin meanwhile is ended with them."""
        self.end()
        _set_running_loop(self)
        try:
            while self._tasks:
                _close(self._tasks.pop())
        finally:
            _set_running_loop(None)

    # ---- what asyncio asks of a loop

    def time(self) -> float:
        return self._scheduler.now

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> ScheduledCall:
        call = ScheduledCall(self, self._scheduler.now, callback, args, context)
        if not self.has_ended:
            self._scheduler.add_ready(call)
        return call

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> ScheduledCall:
        return self.call_soon(callback, *args, context=context)

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> ScheduledCall:
        now = self._scheduler.now
        when = now + delay if delay > 0.0 else now
        call = ScheduledCall(self, when, callback, args, context)
        if not self.has_ended:
            self._scheduler.add_timer(when, call)
        return call

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> ScheduledCall:
        call = ScheduledCall(self, when, callback, args, context)
        if not self.has_ended:
            self._scheduler.add_timer(when, call)
        return call

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        if len(self._tasks) >= self._tasks_max:
            self._tasks = [task for task in self._tasks if not task.done()]
            self._tasks_max = max(2 * len(self._tasks), _TASKS_KEPT_MIN)
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.append(task)
        return task

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_exception_handler(self, context: ErrorContext) -> None:
        if not self.has_ended:
            self._on_error(self.name, context)


def _close(task: asyncio.Task[Any]) -> None:
    if task.done():
        return
    # Nobody is to hear of it: that it is pending is what was meant.
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001
    coroutine = task.get_coro()
    assert coroutine is not None
    for _ in range(_CLOSES_MAX):
        # One that waits while it cleans up is left waiting, and closed again.
        with suppress(BaseException):
            coroutine.close()
            return
