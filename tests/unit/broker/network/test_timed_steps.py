"""Of a coroutine, the time of its steps is measured, and not that for which it waits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ottla.broker.network.timed_steps import TimedSteps


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_steps_are_measured_and_waiting_is_not() -> None:
    asyncio.run(_steps_are_measured())


async def _steps_are_measured() -> None:
    clock, waiting = Clock(), asyncio.get_running_loop().create_future()

    async def work() -> int:
        clock.now += 1
        found: int = await waiting
        clock.now += 2
        return found

    timed = TimedSteps(work(), clock.monotonic)
    task = asyncio.ensure_future(_awaited(timed))
    await asyncio.sleep(0)  # noqa: TID251 - the first step
    assert timed.seconds == 1
    clock.now += 100
    waiting.set_result(7)
    assert await task == 7
    assert timed.seconds == 3


def test_errors_and_cancellations_reach_the_coroutine() -> None:
    asyncio.run(_errors_reach_the_coroutine())


async def _errors_reach_the_coroutine() -> None:
    clock, waiting = Clock(), asyncio.get_running_loop().create_future()
    ended = []

    async def work() -> None:
        try:
            await waiting
        finally:
            clock.now += 1
            ended.append(True)

    timed = TimedSteps(work(), clock.monotonic)
    task = asyncio.ensure_future(_awaited(timed))
    await asyncio.sleep(0)  # noqa: TID251 - the first step
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended
    assert timed.seconds == 1

    async def fail() -> None:
        raise KeyError("broken")

    with pytest.raises(KeyError):
        await TimedSteps(fail(), clock.monotonic)


async def _awaited(timed: TimedSteps[Any]) -> Any:
    return await timed
