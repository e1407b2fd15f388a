"""Waits that are cut short."""

import asyncio

from ottla.runtime.wakeup import Wakeup
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.storage.held_background import settle


def test_wait_ends_when_the_time_is_over() -> None:
    async def play() -> None:
        clock = SimulatedClock()
        waiting = asyncio.ensure_future(Wakeup(clock).wait(2.0))
        await settle()
        clock.advance(1.9)
        await settle()
        assert not waiting.done()
        clock.advance(0.1)
        await waiting

    asyncio.run(play())


def test_wakeup_ends_the_waits_of_all_and_leaves_no_timer() -> None:
    async def play() -> None:
        clock = SimulatedClock()
        wakeup = Wakeup(clock)
        waiting = [asyncio.ensure_future(wakeup.wait(2.0)) for _ in range(3)]
        await settle()
        wakeup.wake()
        await asyncio.gather(*waiting)
        assert clock.monotonic() == 0.0
        assert clock.next_deadline() is None

    asyncio.run(play())


def test_wakeup_before_the_wait_cuts_one_wait_short() -> None:
    async def play() -> None:
        clock = SimulatedClock()
        wakeup = Wakeup(clock)
        wakeup.wake()
        wakeup.wake()
        await wakeup.wait(2.0)
        waiting = asyncio.ensure_future(wakeup.wait(2.0))
        await settle()
        assert not waiting.done()
        clock.advance(2.0)
        await waiting

    asyncio.run(play())
