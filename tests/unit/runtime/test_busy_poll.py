"""A busy poll begins only if the last one was, or would have been, worth it, and ends soon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ottla.runtime.busy_poll import SECONDS_MAX, SystemBusyPoll

_TURNS = 5


class Watched:
    """A busy poll whose clock the test moves, and how often it looked."""

    def __init__(self) -> None:
        self.now = 0.0
        self.looks = 0
        self.busy_poll = SystemBusyPoll(self._monotonic)

    def _monotonic(self) -> float:
        self.looks += 1
        return self.now

    async def looks_of(self, turns: int = _TURNS) -> int:
        before = self.looks
        for _ in range(turns):
            await asyncio.sleep(0)  # noqa: TID251 - turns of the loop, not time
        return self.looks - before

    def serve_two(self, *, seconds_between: float) -> None:
        self.busy_poll.begin()
        self.now += seconds_between
        self.busy_poll.end()


def run(scenario: Callable[[Watched], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        await scenario(Watched())

    asyncio.run(main())


def test_polling_begins_only_after_a_request_has_come_soon() -> None:
    async def scenario(watched: Watched) -> None:
        watched.busy_poll.begin()
        assert await watched.looks_of() == 0
        watched.now += SECONDS_MAX / 2
        watched.busy_poll.end()
        watched.busy_poll.begin()
        assert await watched.looks_of() == _TURNS

    run(scenario)


def test_it_is_over_when_the_request_comes() -> None:
    async def scenario(watched: Watched) -> None:
        watched.serve_two(seconds_between=0)
        watched.busy_poll.begin()
        assert await watched.looks_of() == _TURNS
        watched.busy_poll.end()
        assert await watched.looks_of() == 0

    run(scenario)


def test_it_is_over_when_nothing_comes_and_the_next_is_not_held() -> None:
    async def scenario(watched: Watched) -> None:
        watched.serve_two(seconds_between=0)
        watched.busy_poll.begin()
        watched.now += 2 * SECONDS_MAX
        assert await watched.looks_of() == 1
        watched.busy_poll.end()
        watched.busy_poll.begin()
        assert await watched.looks_of() == 0

    run(scenario)


def test_many_that_are_served_at_once_are_watched_for_once() -> None:
    async def scenario(watched: Watched) -> None:
        watched.serve_two(seconds_between=0)
        for _ in range(3):
            watched.busy_poll.begin()
        assert await watched.looks_of() == _TURNS

    run(scenario)


def test_the_pause_after_a_transaction_teaches_nothing() -> None:
    async def scenario(watched: Watched) -> None:
        watched.serve_two(seconds_between=0)
        watched.now += 1
        watched.busy_poll.end()
        watched.busy_poll.begin()
        assert await watched.looks_of() == _TURNS

    run(scenario)
