"""Limits the time of a coroutine by a seam's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from ottla.client.errors import TimedOutError
from ottla.runtime.clock import Clock

T = TypeVar("T")


async def within(clock: Clock, deadline: float, awaited: Awaitable[T], *, what: str) -> T:
    """Raises TimedOutError when the deadline, in the clock's monotonic seconds, has passed."""
    task = asyncio.current_task()
    assert task is not None
    is_late = False

    def give_up() -> None:
        nonlocal is_late
        is_late = True
        task.cancel()

    timer = clock.call_later(max(deadline - clock.monotonic(), 0), give_up)
    try:
        return await awaited
    except asyncio.CancelledError:
        if is_late and task.uncancel() == 0:
            raise TimedOutError(f"{what}: timed out") from None
        raise
    finally:
        timer.cancel()
