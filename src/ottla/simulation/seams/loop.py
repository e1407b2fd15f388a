"""The event loop of one simulated process: asyncio's tasks, futures and timers on virtual time.

    running ◀──pause, resume──▶ paused
       └──────────── end ─────────┴──▶ ended

An ended loop runs nothing more, not even the cleanup of its tasks: that is how a killed process
behaves. Its tasks are kept until the world closes, because garbage collection of a task would run
its cleanup.
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
    """Created for each process. `on_error` receives what asyncio would log."""

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

    # ---- the life cycle of a process

    def pause(self) -> None:
        """Stops the process until `resume` was called as often as `pause`. Defers due calls."""
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
        """Closes its tasks when the world ends, and the tasks that their cleanup creates."""
        self.end()
        _set_running_loop(self)
        try:
            while self._tasks:
                _close(self._tasks.pop())
        finally:
            _set_running_loop(None)

    # ---- asyncio's interface

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
    # Suppress asyncio's warning about a pending task: it is pending on purpose.
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001
    coroutine = task.get_coro()
    assert coroutine is not None
    for _ in range(_CLOSES_MAX):
        # A coroutine that awaits during its cleanup raises; close it again.
        with suppress(BaseException):
            coroutine.close()
            return
