"""The host's clocks and the event loop's timers."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

from ottla.model.ids import TimestampMs
from ottla.runtime.clock import Timer


class SystemClock:
    """The host's clocks and the running loop's timers. Has no state."""

    __slots__ = ()

    def now_ms(self) -> TimestampMs:
        # Every append calls this; a call of `TimestampMs` would double its cost.
        return time.time_ns() // 1_000_000  # type: ignore[return-value]

    # The C function itself, which saves every request one call.
    monotonic = staticmethod(time.monotonic)  # noqa: TID251  this is the seam

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)

    def call_after_others(self, callback: Callable[[], object]) -> None:
        asyncio.get_running_loop().call_soon(_call_after_others, callback)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)  # noqa: TID251  this is the seam


def _call_after_others(callback: Callable[[], object]) -> None:
    os.sched_yield()
    callback()


def sleep_blocking(seconds: float) -> None:
    """Blocks; for throttled work in its own thread or process."""
    time.sleep(seconds)
