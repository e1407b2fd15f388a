"""Steps of a rebalance that run while the application polls.

The coordinator is talked to in the background. But partitions must not be taken away while the
application processes their records, so these steps wait until it calls poll again, and run in its
own task, as in Kafka's Java client. An application that does not poll for `max.poll.interval.ms` is
taken for dead.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from ottla.runtime.clock import Clock


class _Step(NamedTuple):
    run: Callable[[], Awaitable[None]]
    done: asyncio.Future[None]


class ApplicationTurns:
    """`on_request` is called when a step begins to wait, to end a poll that waits for records.
    `progress` returns a value that changes while the application goes through what it got."""

    def __init__(
        self,
        clock: Clock,
        on_request: Callable[[], None],
        progress: Callable[[], object] = lambda: None,
    ) -> None:
        self._clock = clock
        self._on_request = on_request
        self._progress = progress
        self._last_progress: object = None
        self._steps: deque[_Step] = deque()
        self._last_poll = clock.monotonic()
        self._polls = 0
        self._wakes: list[asyncio.Future[None]] = []

    @property
    def is_requested(self) -> bool:
        return bool(self._steps)

    @property
    def idle_seconds(self) -> float:
        """Since the application was last known to be alive."""
        now = self._clock.monotonic()
        if self._polls or (progress := self._progress()) == self._last_progress:
            return 0.0 if self._polls else now - self._last_poll
        self._last_progress, self._last_poll = progress, now
        return 0.0

    def note_progress(self) -> None:
        """The application asks for records."""
        self._last_poll = self._clock.monotonic()
        wakes, self._wakes = self._wakes, []
        for wake in wakes:
            if not wake.done():
                wake.set_result(None)

    def begin_poll(self) -> None:
        self._polls += 1
        self.note_progress()

    def end_poll(self) -> None:
        self._polls -= 1
        self._last_poll = self._clock.monotonic()

    async def wait_poll(self) -> None:
        """Until the application asks for records again, or is waiting for them now."""
        if not self._polls:
            wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._wakes.append(wake)
            await wake

    async def run(self, step: Callable[[], Awaitable[None]]) -> None:
        """Waits for the application's turn and until the step has run. A caller that is cancelled
        before withdraws the step; an exception of it is raised in poll as well as here."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = _Step(step, done)
        self._steps.append(waiting)
        self._on_request()
        try:
            await done
        finally:
            if waiting in self._steps:
                self._steps.remove(waiting)

    async def serve(self) -> None:
        """Runs the waiting steps; called by poll. Raises what a callback raises, after the
        membership has gone on."""
        while self._steps:
            step = self._steps.popleft()
            try:
                await step.run()
            finally:
                if not step.done.done():
                    step.done.set_result(None)
