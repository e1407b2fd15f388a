"""Combines the responses of several coordinators into one response."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ottla.broker.network.pending import Pending
from ottla.wire.schema import Message


class Gathered:
    """Created by a handler that sends requests to several coordinators. When all have responded,
    resolves `pending` with `combine(responses)`, in the order of the requests."""

    def __init__(self, count: int, combine: Callable[[Sequence[Any]], Message]) -> None:
        self.pending = Pending()
        self._combine = combine
        self._answers: list[Any] = [None] * count
        self._missing = count
        self._maybe_resolve()

    def reply(self, index: int) -> Callable[[Any], None]:
        """Returns the callback for the response to request `index`."""

        def answered(answer: Any) -> None:
            self._answers[index] = answer
            self._missing -= 1
            self._maybe_resolve()

        return answered

    def _maybe_resolve(self) -> None:
        if not self._missing:
            self.pending.resolve(self._combine(self._answers))
