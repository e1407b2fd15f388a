"""An answer that is still to come."""

from __future__ import annotations

from collections.abc import Callable

from ottla.wire.schema import Message


class Pending:
    """Made by a handler that cannot answer at once; resolved once, or abandoned with its
    connection. One connection waits for it."""

    __slots__ = ("_on_abandoned", "_told", "response")

    def __init__(self, *, on_abandoned: Callable[[], None] = lambda: None) -> None:
        self.response: Message | None = None
        self._told: Callable[[], None] | None = None
        self._on_abandoned = on_abandoned

    def resolve(self, response: Message) -> None:
        assert self.response is None, "answered twice"
        self.response = response
        if self._told is not None:
            self._told()

    def follow(self, answer: Message | Pending | None) -> None:
        """Resolves it with another answer, when that is there. None is no answer."""
        if isinstance(answer, Pending):
            response, other = answer.response, answer
            if response is None:
                other.when_resolved(lambda: self.follow(other.response))
                return
            answer = response
        if answer is not None:
            self.resolve(answer)

    @property
    def answer(self) -> Message | Pending:
        """What a handler returns: the response, if it is there by now."""
        return self.response or self

    def when_resolved(self, told: Callable[[], None]) -> None:
        """Has `told` called when there is a response."""
        self._told = told

    def abandon(self) -> None:
        """Nobody waits any more."""
        if self.response is None:
            self._told = None
            self._on_abandoned()
