"""A timed wait that can be ended early."""

from __future__ import annotations

import asyncio

from ottla.runtime.clock import Clock


class Nudge:
    """Any number of coroutines may wait; any code on the same loop may end their wait.

    A nudge is not lost: if no coroutine waits, it ends the next wait.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._nudged = asyncio.Event()

    def give(self) -> None:
        self._nudged.set()

    async def wait(self, seconds: float) -> None:
        """Returns after a nudge, or after the time has passed."""
        timer = self._clock.call_later(seconds, self._nudged.set)
        try:
            await self._nudged.wait()
        finally:
            timer.cancel()
        self._nudged.clear()
