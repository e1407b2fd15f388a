"""The worker threads of a simulated host: jobs take virtual time, and the loop runs meanwhile.

A job runs either at once or just before its result is delivered, at random, because a real job may
run before or after what the loop does meanwhile. If the process ends in between, the job is not run
or its result is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, TypeVar, TypeVarTuple

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

_USUAL_MICROSECONDS_MAX: Final = 2_000
_LATE_PROBABILITY: Final = 0.02
_LATE_FACTOR: Final = 50


class SimulatedBackground:
    """Belongs to one process. Disk waits of a job delay its result, not the loop."""

    def __init__(self, dice: SeededDice, disk: SimulatedDisk) -> None:
        self._dice = dice
        self._disk = disk

    def run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()
        seconds = self._dice.between(low=20, high=_USUAL_MICROSECONDS_MAX) / 1e6
        if self._dice.chance(_LATE_PROBABILITY):
            seconds *= _LATE_FACTOR
        if self._dice.chance(0.5):
            outcome = self._outcome(function, arguments)
            loop.call_later(seconds, self._deliver, result, *outcome)
        else:
            loop.call_later(seconds, self._run_late, result, function, arguments)
        return result

    def compute(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> asyncio.Future[T]:
        return self.run(function, *arguments)

    def compute_soon(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> asyncio.Future[T]:
        return self.run(function, *arguments)

    def compute_limited(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> asyncio.Future[T]:
        return self.run(function, *arguments)

    async def close(self) -> None: ...

    def _run_late(
        self, result: asyncio.Future[T], function: Callable[..., T], arguments: tuple[Any, ...]
    ) -> None:
        self._deliver(result, *self._outcome(function, arguments))

    def _deliver(
        self, result: asyncio.Future[Any], value: Any, error: Exception | None, left: float
    ) -> None:
        """Delivers the result, after the job's remaining disk wait."""
        pause = self._disk.faults.seconds_until_looked_at(left)
        if pause > 0.0:
            loop = asyncio.get_running_loop()
            loop.call_later(pause, self._deliver, result, value, error, left - pause)
        else:
            _deliver(result, value, error)

    def _outcome(
        self, function: Callable[..., T], arguments: tuple[Any, ...]
    ) -> tuple[T | None, Exception | None, float]:
        faults = self._disk.faults
        before, value, failure = faults.seconds_waited, None, None
        try:
            value = function(*arguments)
        except Exception as error:
            failure = error
        waited, faults.seconds_waited = faults.seconds_waited - before, before
        return value, failure, waited


def _deliver(result: asyncio.Future[Any], value: Any, error: Exception | None) -> None:
    if result.done():
        return
    if error is None:
        result.set_result(value)
    else:
        result.set_exception(error)
