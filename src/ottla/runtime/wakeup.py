"""A timed wait that can be ended early."""

from __future__ import annotations

import asyncio

from ottla.runtime.clock import Clock


class Wakeup:
    """Any number of coroutines may wait; any code on the same loop may end their wait.

    A wakeup is not lost: if no coroutine waits, it ends the next wait.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._woken = asyncio.Event()

    def wake(self) -> None:
        self._woken.set()

    async def wait(self, seconds: float) -> None:
        """Returns after a wakeup, or after the time has passed."""
        timer = self._clock.call_later(seconds, self._woken.set)
        try:
            await self._woken.wait()
        finally:
            timer.cancel()
        self._woken.clear()
