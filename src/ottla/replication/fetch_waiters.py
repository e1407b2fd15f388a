"""Fetches that wait for more bytes."""

from __future__ import annotations

from collections.abc import Callable


class FetchWaiters(dict[object, Callable[[int], None]]):
    """The callbacks by owner, called with the number of new bytes. The owner registers and removes
    its own callback, and may do so during a callback."""

    __slots__ = ()

    def tell(self, size: int) -> None:
        for told in list(self.values()):
            told(size)
