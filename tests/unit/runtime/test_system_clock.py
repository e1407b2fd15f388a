"""The host's clocks on a running loop."""

from __future__ import annotations

import asyncio

from ottla.runtime.clock import Clock
from ottla.runtime.system_clock import SystemClock

YEAR_2020_MS = 1_577_836_800_000


def test_the_wall_clock_is_in_milliseconds_and_monotonic_time_goes_forward() -> None:
    clock: Clock = SystemClock()
    assert YEAR_2020_MS < clock.now_ms() < 2 * YEAR_2020_MS
    before = clock.monotonic()
    assert clock.monotonic() >= before


def test_timers_fire_in_order_and_cancelled_ones_do_not() -> None:
    async def scenario() -> list[str]:
        clock = SystemClock()
        fired: list[str] = []
        done = asyncio.Event()
        # Far enough behind the others, also if the host runs something else in between.
        clock.call_later(0.1, done.set)
        clock.call_later(0.001, lambda: fired.append("timer"))
        clock.call_later(0.001, lambda: fired.append("cancelled")).cancel()
        await done.wait()
        await clock.sleep(0)
        return fired

    assert asyncio.run(scenario()) == ["timer"]


def test_what_comes_after_others_comes_when_this_is_done() -> None:
    async def scenario() -> list[str]:
        clock = SystemClock()
        order: list[str] = []
        done = asyncio.Event()
        clock.call_after_others(lambda: order.append("afterwards"))
        clock.call_after_others(done.set)
        order.append("this")
        await done.wait()
        return order

    assert asyncio.run(scenario()) == ["this", "afterwards"]
