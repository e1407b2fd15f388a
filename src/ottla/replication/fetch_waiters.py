"""Fetches that wait for more bytes."""

from __future__ import annotations

from collections.abc import Callable


class FetchWaiters(dict[object, Callable[[int], None]]):
    """The callbacks by owner, called with the number of new bytes. The owner registers and removes
    its own callback, and may do so during a callback."""

    __slots__ = ()

    def notify(self, size: int) -> None:
        for callback in list(self.values()):
            callback(size)
