"""Runs work items of the same key one after another, in order of arrival."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable


class Turns:
    """One work item per key has the turn. It must call `end`, which starts the next one."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[Callable[[], None]]] = {}

    def is_busy(self, key: Hashable) -> bool:
        """Whether a work item of this key has the turn."""
        return key in self._waiting

    def begin(self, key: Hashable, work: Callable[[], None]) -> None:
        """Runs `work` now, or when its turn comes."""
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
