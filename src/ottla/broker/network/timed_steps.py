"""Measures the time of a coroutine on the event loop, without the time for which it waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class TimedSteps(Generic[T]):
    """Awaits `work`; `seconds` is the time that its steps have taken until now."""

    __slots__ = ("_monotonic", "_work", "seconds")

    def __init__(self, work: Awaitable[T], monotonic: Callable[[], float]) -> None:
        self._work = work
        self._monotonic = monotonic
        self.seconds = 0.0

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._work.__await__()
        sent: Any = None
        error: BaseException | None = None
        while True:
            started = self._monotonic()
            try:
                waits_for = _advanced(steps, sent, error)
            except StopIteration as end:
                found: T = end.value
                return found
            finally:
                self.seconds += self._monotonic() - started
            sent = error = None
            try:
                sent = yield waits_for
            except BaseException as raised:
                # A cancellation, or the error of what it waited for: the coroutine's to handle.
                error = raised


def _advanced(steps: Generator[Any, Any, Any], sent: Any, error: BaseException | None) -> Any:
    return steps.send(sent) if error is None else steps.throw(error)
