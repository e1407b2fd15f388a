"""Work that must not hold up the event loop, as something to await.

`run` is for functions that wait (a sync, a cold read): they get a thread. `compute` is for those
that calculate for long (a compaction): on a thread they would take the interpreter's lock away
from the loop, so they get a process; `compute_soon` has another one. A job starts when it is asked
for, whether or not anybody awaits it; what it raises is raised where it is awaited.

`SystemBackground` (system_background.py) is the real one. `InlineBackground` does everything on
the spot: in a simulation nothing else happens meanwhile, and one seed gives one history.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Generic, Protocol, TypeVar, TypeVarTuple, cast

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class WorkerCrashedError(Exception):
    """The process of a computation ended before the computation did."""


class Background(Protocol):
    """Runs jobs away from the loop. Used from one event loop, and closed by its owner."""

    def run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:
        """Calls a function that waits. Cancelling the awaitable does not stop it if it runs."""

    def compute(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:
        """Calls a function that calculates, with copies of its arguments.

        Function, arguments and result are pickled, so the function is one of a module. Once a
        cancelled job has raised `CancelledError` it runs no more. It may have been killed at any
        point, as may one that ended in `WorkerCrashedError`: what it left on disk is of no use.
        """

    def compute_soon(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Awaitable[T]:
        """The same for what a client waits for: it does not queue behind a compaction."""

    async def close(self) -> None:
        """Waits for what `run` began, and cancels what was to be computed."""


class InlineBackground:
    """Runs every job at once, when it is asked for. Needs no event loop."""

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

    async def close(self) -> None: ...


class Finished(Generic[T]):
    """The outcome of a job that is over: awaiting it never waits."""

    __slots__ = ("_error", "_value")

    def __init__(self, value: T | None, error: Exception | None) -> None:
        self._value = value
        self._error = error

    def __await__(self) -> Generator[None, None, T]:
        yield from ()
        if self._error is not None:
            raise self._error
        return cast(T, self._value)
