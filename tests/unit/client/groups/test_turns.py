"""Steps of a rebalance run in the application's calls of poll."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from ottla.client.groups.turns import ApplicationTurns
from ottla.runtime.system_clock import SystemClock


class StoppedClock(SystemClock):
    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 20))


def test_a_step_runs_in_the_task_that_polls() -> None:
    async def scenario() -> None:
        turns = ApplicationTurns(SystemClock(), lambda: None)
        ran_in: list[object] = []

        async def step() -> None:
            ran_in.append(asyncio.current_task())

        waiting = asyncio.ensure_future(turns.run(step))
        await SystemClock().sleep(0)
        assert turns.is_requested
        assert not ran_in, "the application has not polled yet"
        await turns.serve()
        await waiting
        assert ran_in == [asyncio.current_task()]

    run(scenario())


def test_a_failing_callback_is_raised_in_poll_and_the_membership_goes_on() -> None:
    async def scenario() -> None:
        turns = ApplicationTurns(SystemClock(), lambda: None)

        async def step() -> None:
            raise KeyError("from the application")

        waiting = asyncio.ensure_future(turns.run(step))
        await SystemClock().sleep(0)
        with pytest.raises(KeyError):
            await turns.serve()
        await waiting

    run(scenario())


def test_a_step_is_withdrawn_when_its_owner_ends() -> None:
    async def scenario() -> None:
        turns = ApplicationTurns(SystemClock(), lambda: None)

        async def step() -> None:
            raise AssertionError("withdrawn")

        waiting = asyncio.ensure_future(turns.run(step))
        await SystemClock().sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await turns.serve()

    run(scenario())


def test_an_application_is_idle_since_it_last_polled() -> None:
    clock = StoppedClock()
    turns = ApplicationTurns(clock, lambda: None)
    turns.begin_poll()
    clock.now += 50
    assert turns.idle_seconds == 0, "it waits for records"
    turns.end_poll()
    clock.now += 30
    assert turns.idle_seconds == 30


def test_an_application_that_goes_through_its_records_is_not_idle() -> None:
    clock = StoppedClock()
    progress = [0]
    turns = ApplicationTurns(clock, lambda: None, lambda: progress[0])
    turns.begin_poll()
    turns.end_poll()
    clock.now += 30
    progress[0] = 1
    assert turns.idle_seconds == 0
    clock.now += 20
    assert turns.idle_seconds == 20
