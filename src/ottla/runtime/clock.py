"""The clock interface: the current time, and waiting.

`now_ms` is the wall clock that Kafka writes into records; it jumps when it is set. `monotonic` only
moves forward and measures timeouts. `SystemClock` (system_clock.py) is the real implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ottla.model.ids import TimestampMs


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """Cancels the call. Does nothing if it has run."""


class Clock(Protocol):
    """The time for one event loop. Callbacks and sleeping coroutines run on that loop, in time
    order."""

    def now_ms(self) -> TimestampMs: ...

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment that is fixed for the life of the process."""

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer: ...

    def call_after_others(self, callback: Callable[[], object]) -> None:
        """Calls back soon, after the current callbacks and after yielding the processor once to
        other processes, such as a client on the same host that has just received a response."""

    async def sleep(self, seconds: float) -> None: ...
