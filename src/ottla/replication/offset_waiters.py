"""Callbacks for when an offset is reached, or when waiting for it fails."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeAlias

from ottla.model import ErrorCode

Callback: TypeAlias = Callable[[ErrorCode], None]


class OffsetWaiter:
    """A pending callback. Call `cancel` when the result is no longer needed."""

    __slots__ = ("_sequence", "callback", "offset")

    def __init__(self, offset: int, sequence: int, callback: Callback) -> None:
        self.offset = offset
        self.callback: Callback | None = callback
        self._sequence = sequence

    @property
    def is_waiting(self) -> bool:
        return self.callback is not None

    def cancel(self) -> None:
        self.callback = None

    def __lt__(self, other: OffsetWaiter) -> bool:
        return (self.offset, self._sequence) < (other.offset, other._sequence)


class OffsetWaiters:
    """Each callback is called once, and may add another waiter."""

    __slots__ = ("_heap", "_sequence")

    def __init__(self) -> None:
        self._heap: list[OffsetWaiter] = []
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, offset: int, callback: Callback) -> OffsetWaiter:
        self._sequence += 1
        waiter = OffsetWaiter(offset, self._sequence, callback)
        heapq.heappush(self._heap, waiter)
        return waiter

    def reached(self, offset: int, result: ErrorCode) -> None:
        """Calls back all waiters for this offset or a lower one."""
        while self._heap and self._heap[0].offset <= offset:
            _notify(heapq.heappop(self._heap), result)

    def fail(self, error: ErrorCode) -> None:
        """Calls back all waiters with an error."""
        heap, self._heap = self._heap, []
        for waiter in sorted(heap):
            _notify(waiter, error)


def _notify(waiter: OffsetWaiter, result: ErrorCode) -> None:
    callback, waiter.callback = waiter.callback, None
    if callback is not None:
        callback(result)
