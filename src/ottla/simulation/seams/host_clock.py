"""The clock of a simulated host, whose wall clock may be wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from ottla.model.ids import TimestampMs
from ottla.runtime.clock import Timer
from ottla.simulation.seams.scheduler import Scheduler

# A time in 2025, so that timestamps look realistic.
_EPOCH_MS: Final = 1_750_000_000_000


class HostClock:
    """Belongs to a host and outlives its processes. Timers run on the current process's loop."""

    def __init__(self, scheduler: Scheduler, *, skew_ms: int = 0) -> None:
        self._scheduler = scheduler
        self.skew_ms = skew_ms

    def now_ms(self) -> TimestampMs:
        return TimestampMs(_EPOCH_MS + self.skew_ms + int(self._scheduler.now * 1_000))

    def monotonic(self) -> float:
        return self._scheduler.now

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)

    def call_after_others(self, callback: Callable[[], object]) -> None:
        self.call_later(0, callback)

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = self.call_later(seconds, lambda: _wake(woken))
        try:
            await woken
        finally:
            timer.cancel()

    def jump(self, milliseconds: int) -> None:
        """Sets the wall clock forward or back, as an operator or a time server would."""
        self.skew_ms += milliseconds


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)
