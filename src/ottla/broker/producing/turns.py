"""Work that has to be done in the order in which it came, where each may have to wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable


class Turns:
    """By key, one at a time: whoever has the turn ends it, and the next begins."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[Callable[[], None]]] = {}

    def is_busy(self, key: Hashable) -> bool:
        """Whether somebody has the turn."""
        return key in self._waiting

    def begin(self, key: Hashable, work: Callable[[], None]) -> None:
        """Has `work` done, now or when it is its turn."""
        waiting = self._waiting.get(key)
        if waiting is None:
            self._waiting[key] = deque()
            work()
        else:
            waiting.append(work)

    def end(self, key: Hashable) -> None:
        waiting = self._waiting[key]
        if waiting:
            waiting.popleft()()
        else:
            del self._waiting[key]
