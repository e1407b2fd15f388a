"""Fetches that found too little and wait for more bytes."""

from __future__ import annotations

from collections.abc import Callable


class FetchWaiters(dict[object, Callable[[int], None]]):
    """By owner, what is called with the number of new bytes. Whoever registers also takes itself
    out; being told may end the wait, and so change the table."""

    __slots__ = ()

    def tell(self, size: int) -> None:
        for told in list(self.values()):
            told(size)
