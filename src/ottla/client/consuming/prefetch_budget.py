"""The bytes that fetched and not yet consumed responses may take."""

from __future__ import annotations

from collections.abc import Callable


class PrefetchBudget:
    """A request reserves what its response may have; the response then counts with its real size
    until the last of its partitions is consumed, because they share its memory."""

    def __init__(self, bytes_max: int, on_room: Callable[[], None] = lambda: None) -> None:
        self.bytes_max = bytes_max
        self.used = 0
        self._on_room = on_room

    @property
    def room(self) -> int:
        return max(self.bytes_max - self.used, 0)

    def reserve(self, size: int) -> None:
        self.used += size

    def release(self, size: int) -> None:
        self.used -= size
        assert self.used >= 0, "more was released than reserved"
        self._on_room()


class FetchedMemory:
    """The memory of one response, used by `users` partitions of it."""

    __slots__ = ("_budget", "_size", "_users")

    def __init__(self, budget: PrefetchBudget, size: int, users: int) -> None:
        self._budget = budget
        self._size = size
        self._users = users
        budget.reserve(size)
        if not users:
            budget.release(size)

    def release(self) -> None:
        """Called once for each partition."""
        self._users -= 1
        if not self._users:
            self._budget.release(self._size)
