"""Runs work outside the event loop.

`run` is for functions that wait (a sync, a read from the device) and uses a thread. `compute` is
for functions that compute for long (a compaction) and uses a process, because on a thread they
would hold the GIL and block the event loop. `compute_soon` has a second process,
`compute_limited` a third one, which may be killed by its jobs. A job starts when
it is submitted, even if it is never awaited. Its exception is raised where it is awaited.

`SystemBackground` (system_background.py) is the real implementation. `InlineBackground` runs every
job immediately: in a simulation nothing else happens meanwhile, so one seed gives one history.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Generic, Protocol, TypeVar, TypeVarTuple, cast

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class WorkerCrashedError(Exception):
    """The worker process ended before the computation did."""


class Background(Protocol):
    """Runs jobs outside the event loop. Used from one event loop, and closed by its owner."""

    def run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:
        """Runs a function that waits. Cancelling the awaitable does not stop a function that
        already runs."""

    def compute(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:
        """Runs a function that computes, with copies of its arguments.

        Function, arguments and result are pickled, so the function must be a module's. Once a
        cancelled job has raised `CancelledError`, it no longer runs. It may have been killed at any
        point, like a job that ended in `WorkerCrashedError`: do not use the files it left.
        """

    def compute_soon(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Awaitable[T]:
        """As `compute`, for jobs that a client waits for: they do not queue behind a compaction."""

    def compute_limited(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Awaitable[T]:
        """As `compute_soon`, in a process with limits of processor time and memory, for work on
        what strangers wrote. Raises WorkerCrashedError or MemoryError beyond them."""

    async def close(self) -> None:
        """Waits for the functions of `run` and cancels computations."""


class InlineBackground:
    """Runs every job when it is submitted. Needs no event loop."""

    def run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Finished[T]:
        try:
            return Finished(function(*arguments), None)
        except Exception as error:
            return Finished(None, error)

    def compute(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Finished[T]:
        return self.run(function, *arguments)

    def compute_soon(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Finished[T]:
        return self.run(function, *arguments)

    def compute_limited(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Finished[T]:
        return self.run(function, *arguments)

    async def close(self) -> None: ...


class Finished(Generic[T]):
    """The result of a finished job. Awaiting it never suspends."""

    __slots__ = ("_error", "_value")

    def __init__(self, value: T | None, error: Exception | None) -> None:
        self._value = value
        self._error = error

    def __await__(self) -> Generator[None, None, T]:
        yield from ()
        if self._error is not None:
            raise self._error
        return cast(T, self._value)
