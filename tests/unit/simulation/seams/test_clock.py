"""Virtual time: it moves when told to, and never past a timer."""

from __future__ import annotations

import asyncio

from ottla.runtime.clock import Clock
from ottla.simulation.seams.clock import SimulatedClock


def test_timers_run_in_order_of_their_time_then_of_their_call() -> None:
    clock = SimulatedClock()
    as_clock: Clock = clock
    seen: list[tuple[str, float]] = []
    for name, seconds in (("late", 3.0), ("early", 1.0), ("early too", 1.0), ("past", -1.0)):
        as_clock.call_later(seconds, lambda name=name: seen.append((name, clock.monotonic())))  # type: ignore[misc]
    clock.call_later(2.0, lambda: seen.append(("cancelled", 0.0))).cancel()
    clock.advance(2.5)
    assert seen == [("past", 0.0), ("early", 1.0), ("early too", 1.0)]
    assert (clock.monotonic(), clock.next_deadline()) == (2.5, 3.0)
    clock.advance(0.5)
    assert seen[-1] == ("late", 3.0)
    assert clock.next_deadline() is None


def test_timers_that_timers_set_run_in_the_same_advance() -> None:
    clock = SimulatedClock()
    ticks: list[float] = []

    def tick() -> None:
        ticks.append(clock.monotonic())
        clock.call_later(1.0, tick)

    tick()
    clock.advance(3.0)
    assert ticks == [0.0, 1.0, 2.0, 3.0]


def test_the_wall_clock_follows_and_can_jump_on_its_own() -> None:
    clock = SimulatedClock()
    start = clock.now_ms()
    clock.advance(1.5)
    assert clock.now_ms() == start + 1500
    clock.jump_wall_clock(-10_000)
    assert clock.now_ms() == start - 8500
    assert clock.monotonic() == 1.5


def test_a_sleeper_wakes_when_its_time_has_come() -> None:
    async def scenario() -> None:
        clock = SimulatedClock()
        sleeper = asyncio.ensure_future(clock.sleep(5))
        await asyncio.wait([sleeper], timeout=0)
        clock.advance(4.9)
        await asyncio.wait([sleeper], timeout=0)
        assert not sleeper.done()
        clock.advance(0.1)
        await sleeper

    asyncio.run(scenario())


def test_a_cancelled_sleeper_leaves_no_timer() -> None:
    async def scenario() -> None:
        clock = SimulatedClock()
        sleeper = asyncio.ensure_future(clock.sleep(5))
        await asyncio.wait([sleeper], timeout=0)
        sleeper.cancel()
        await asyncio.wait([sleeper])
        assert clock.next_deadline() is None

    asyncio.run(scenario())
