"""A clock that a test advances by hand; it runs every timer that falls due."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable

from ottla.model.ids import TimestampMs

# A time in 2025, so that timestamps look realistic.
_EPOCH_MS = 1_750_000_000_000


class SimulatedTimer:
    """A scheduled callback."""

    __slots__ = ("callback", "deadline", "sequence")

    def __init__(self, deadline: float, sequence: int, callback: Callable[[], object]) -> None:
        self.deadline = deadline
        self.sequence = sequence
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None

    def __lt__(self, other: SimulatedTimer) -> bool:
        return (self.deadline, self.sequence) < (other.deadline, other.sequence)


class SimulatedClock:
    """Virtual time. `advance` runs timers at their deadlines, equal ones in order of creation.

    A coroutine that sleeps continues when its loop next runs after the `advance` that reached its
    deadline.
    """

    def __init__(self) -> None:
        self._seconds = 0.0
        self._wall_offset_ms = _EPOCH_MS
        self._timers: list[SimulatedTimer] = []
        self._calls = 0

    def now_ms(self) -> TimestampMs:
        return TimestampMs(self._wall_offset_ms + round(self._seconds * 1000))

    def monotonic(self) -> float:
        return self._seconds

    def call_later(self, seconds: float, callback: Callable[[], object]) -> SimulatedTimer:
        self._calls += 1
        timer = SimulatedTimer(self._seconds + max(seconds, 0.0), self._calls, callback)
        heapq.heappush(self._timers, timer)
        return timer

    def call_after_others(self, callback: Callable[[], object]) -> None:
        self.call_later(0, callback)

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        timer = self.call_later(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            timer.cancel()

    def advance(self, seconds: float) -> None:
        """Moves time forward and runs all timers that fall due, including newly created ones."""
        end = self._seconds + seconds
        assert end >= self._seconds, "monotonic time never goes back; see jump_wall_clock"
        while (deadline := self.next_deadline()) is not None and deadline <= end:
            timer = heapq.heappop(self._timers)
            self._seconds = max(self._seconds, timer.deadline)
            if timer.callback is not None:
                timer.callback()
        self._seconds = max(self._seconds, end)

    def spend(self, seconds: float) -> None:
        """Time that a callback takes: no timer runs meanwhile."""
        self._seconds += seconds

    def next_deadline(self) -> float | None:
        """The deadline of the next timer, or None."""
        while self._timers and self._timers[0].callback is None:
            heapq.heappop(self._timers)
        return self._timers[0].deadline if self._timers else None

    def jump_wall_clock(self, milliseconds: int) -> None:
        """Sets the wall clock forward or back, as an operator or a time server would."""
        self._wall_offset_ms += milliseconds
