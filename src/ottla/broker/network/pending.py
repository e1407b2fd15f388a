"""A response that is not ready yet."""

from __future__ import annotations

from collections.abc import Callable

from ottla.wire.schema import Message


class Pending:
    """Created by a handler that cannot respond at once. Resolved once, or abandoned when its
    connection closes. Exactly one connection waits for it."""

    __slots__ = ("_callback", "_on_abandoned", "response")

    def __init__(self, *, on_abandoned: Callable[[], None] = lambda: None) -> None:
        self.response: Message | None = None
        self._callback: Callable[[], None] | None = None
        self._on_abandoned = on_abandoned

    def resolve(self, response: Message) -> None:
        assert self.response is None, "a request was answered twice"
        self.response = response
        if self._callback is not None:
            self._callback()

    def follow(self, answer: Message | Pending | None) -> None:
        """Resolves this with `answer`, once that is ready. Does nothing if `answer` is None."""
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
        """The return value of a handler: the response if it is ready, else this `Pending`."""
        return self.response or self

    def when_resolved(self, callback: Callable[[], None]) -> None:
        """Sets `callback` as the callback for the response."""
        self._callback = callback

    def abandon(self) -> None:
        """Called when the connection closed. Calls `on_abandoned` if there is no response."""
        if self.response is None:
            self._callback = None
            self._on_abandoned()
