"""The clock seam: what time it is, and waiting.

Two times, as everywhere: `now_ms` is the wall clock that Kafka writes into records, and it jumps
when somebody sets it; `monotonic` only goes forward and is what timeouts are measured with.
`SystemClock` (system_clock.py) is the real one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ottla.model.ids import TimestampMs


class Timer(Protocol):
    """A call that is still to come."""

    def cancel(self) -> None:
        """Takes the call back; does nothing if it has happened."""


class Clock(Protocol):
    """Time for one event loop. Callbacks and sleepers run on that loop, in order of their time."""

    def now_ms(self) -> TimestampMs: ...

    def monotonic(self) -> float:
        """Seconds since some moment that stays the same while the process lives."""

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer: ...

    def call_after_others(self, callback: Callable[[], object]) -> None:
        """As soon as what is being done now is done, and whoever else waits for this processor has
        had it: a client on the same host, say, that was just answered."""

    async def sleep(self, seconds: float) -> None: ...
