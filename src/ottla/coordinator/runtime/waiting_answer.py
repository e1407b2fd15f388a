"""A response that waits until the records it depends on are committed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ottla.model import ErrorCode
from ottla.runtime.clock import Timer

# Takes a response, or part of one.
Reply: TypeAlias = Callable[[Any], None]


class WaitingAnswer:
    """Settled once: on commit, on an error, or on a timeout."""

    __slots__ = ("_settled", "timer", "when_settled")

    def __init__(self, settled: Callable[[ErrorCode], object]) -> None:
        self._settled: Callable[[ErrorCode], object] | None = settled
        self.timer: Timer | None = None
        self.when_settled: Callable[[], object] | None = None

    def settle(self, code: ErrorCode) -> None:
        settled, self._settled = self._settled, None
        if settled is None:
            return
        if self.timer is not None:
            self.timer.cancel()
        if self.when_settled is not None:
            self.when_settled()
        settled(code)
