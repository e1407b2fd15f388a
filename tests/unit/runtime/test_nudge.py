"""Waits that are cut short."""

import asyncio

from ottla.runtime.nudge import Nudge
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.storage.held_background import settle


def test_wait_ends_when_the_time_is_over() -> None:
    async def play() -> None:
        clock = SimulatedClock()
        waiting = asyncio.ensure_future(Nudge(clock).wait(2.0))
        await settle()
        clock.advance(1.9)
        await settle()
        assert not waiting.done()
        clock.advance(0.1)
        await waiting

    asyncio.run(play())


def test_nudge_ends_the_waits_of_all_and_leaves_no_timer() -> None:
    async def play() -> None:
        clock = SimulatedClock()
        nudge = Nudge(clock)
        waiting = [asyncio.ensure_future(nudge.wait(2.0)) for _ in range(3)]
        await settle()
        nudge.give()
        await asyncio.gather(*waiting)
        assert clock.monotonic() == 0.0
        assert clock.next_deadline() is None

    asyncio.run(play())


def test_nudge_before_the_wait_cuts_one_wait_short() -> None:
    async def play() -> None:
        clock = SimulatedClock()
        nudge = Nudge(clock)
        nudge.give()
        nudge.give()
        await nudge.wait(2.0)
        waiting = asyncio.ensure_future(nudge.wait(2.0))
        await settle()
        assert not waiting.done()
        clock.advance(2.0)
        await waiting

    asyncio.run(play())
