"""Virtual time: a queue of calls that runs everything in a simulated world.

Due calls run in the order in which they fell due. When no call is due, time jumps to the next
timer, so a thousand idle seconds take no real time, and the speed of the host has no influence.
"""

from __future__ import annotations

import asyncio
from asyncio import _set_running_loop
from collections import deque
from collections.abc import Callable
from contextvars import Context
from heapq import heappop, heappush
from typing import Any, Final

from ottla.simulation.disk.disk_faults import PowerLost

# More calls than this at one virtual time mean that a program polls without waiting.
_CALLS_AT_ONCE_MAX: Final = 500_000


class StuckError(Exception):
    """The world cannot continue: no call is scheduled, or virtual time does not advance."""


class ScheduledLoop(asyncio.AbstractEventLoop):
    """The event loop of a simulated process: `SimulatedLoop`."""

    is_running_now: bool
    has_ended: bool
    # Called after each step of the process.
    look: Callable[[], object]

    def defer(self, call: ScheduledCall) -> None:
        """Keeps a call until the process resumes."""
        raise NotImplementedError


class ScheduledCall:
    """A scheduled call that can be cancelled; implements asyncio's handle.

    Without a loop it belongs to the world itself, such as the arrival of a segment.
    """

    __slots__ = ("_when", "args", "callback", "context", "loop")

    def __init__(
        self,
        loop: ScheduledLoop | None,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context | None,
    ) -> None:
        self.loop = loop
        self._when = when
        # None if it was cancelled.
        self.callback: Callable[..., object] | None = callback
        self.args = args
        self.context = context

    def cancel(self) -> None:
        self.callback = None
        self.args = ()

    def cancelled(self) -> bool:
        return self.callback is None

    def when(self) -> float:
        return self._when


class Scheduler:
    """The queue of one world. Runs only inside `run_until`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls = 0
        self._ready: deque[ScheduledCall] = deque()
        # Sorted by time, then by order of creation.
        self._timers: list[tuple[float, int, ScheduledCall]] = []
        self._sequence = 0

    def call_later(self, seconds: float, callback: Callable[..., object], *args: Any) -> None:
        """Schedules a call outside of any process's loop."""
        self.call_at(self.now + seconds, callback, *args)

    def call_at(self, when: float, callback: Callable[..., object], *args: Any) -> None:
        self.add_timer(when, ScheduledCall(None, when, callback, args, None))

    def add_ready(self, call: ScheduledCall) -> None:
        self._ready.append(call)

    def add_timer(self, when: float, call: ScheduledCall) -> None:
        self._sequence += 1
        heappush(self._timers, (when, self._sequence, call))

    def clear(self) -> None:
        """Drops all scheduled calls."""
        self._ready.clear()
        self._timers.clear()

    def run_until(self, is_over: Callable[[], bool]) -> None:
        """Runs until `is_over` is true. Raises `StuckError` if that can no longer happen."""
        ready, calls_at_once = self._ready, 0
        # The running loop as set in asyncio; set only when it changes.
        current: ScheduledLoop | None = None
        try:
            while not is_over():
                if not ready:
                    self._jump()
                    calls_at_once = 0
                calls_at_once += 1
                if calls_at_once > _CALLS_AT_ONCE_MAX:
                    raise StuckError(f"time does not advance at {self.now:.6f} s")
                call = ready.popleft()
                if call.callback is None:
                    continue
                self.calls += 1
                loop = call.loop
                if loop is not current:
                    _set_running_loop(loop)
                    current = loop
                if loop is None:
                    call.callback(*call.args)
                elif loop.is_running_now:
                    _run(loop, call)
                else:
                    loop.defer(call)
        finally:
            _set_running_loop(None)

    def _jump(self) -> None:
        timers, ready = self._timers, self._ready
        while timers and timers[0][2].callback is None:
            heappop(timers)
        if not timers:
            raise StuckError(f"no event is scheduled at {self.now:.6f} s")
        now = self.now = max(self.now, timers[0][0])
        while timers and timers[0][0] <= now:
            ready.append(heappop(timers)[2])


def _run(loop: ScheduledLoop, call: ScheduledCall) -> None:
    callback, context = call.callback, call.context
    assert callback is not None
    try:
        if context is None:
            callback(*call.args)
        else:
            context.run(callback, *call.args)
    except PowerLost:
        pass  # Whoever turned the power off has ended the loop.
    except Exception as error:
        loop.call_exception_handler({"message": "a callback failed", "exception": error})
    if not loop.has_ended:
        loop.look()
