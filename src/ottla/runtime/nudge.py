"""Waiting for some time that others can cut short."""

from __future__ import annotations

import asyncio

from ottla.runtime.clock import Clock


class Nudge:
    """Any number may wait, anybody on the same loop may nudge them.

    A nudge is not lost: with nobody there, it cuts the next wait short.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._nudged = asyncio.Event()

    def give(self) -> None:
        self._nudged.set()

    async def wait(self, seconds: float) -> None:
        """Returns after a nudge, or when the time is over."""
        timer = self._clock.call_later(seconds, self._nudged.set)
        try:
            await self._nudged.wait()
        finally:
            timer.cancel()
        self._nudged.clear()
