"""Wakes requests that wait for a partition to get a new leader."""

from __future__ import annotations

import asyncio

from ottla.runtime.clock import Clock


class LeaderChanges:
    """Owned by the node's loop."""

    __slots__ = ("_clock", "_waiting")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[asyncio.Event, None] = {}

    def notify(self) -> None:
        for changed in self._waiting:
            changed.set()

    async def wait(self, *, seconds: float) -> None:
        """Returns after the next change, or after `seconds`."""
        changed = asyncio.Event()
        self._waiting[changed] = None
        timer = self._clock.call_later(seconds, changed.set)
        try:
            await changed.wait()
        finally:
            timer.cancel()
            del self._waiting[changed]
