"""The bytes of a producer's records, from `send` to their acknowledgement, within a bound."""

from __future__ import annotations

import asyncio
from collections import deque


class BufferMemory:
    """Takes are granted in the order of the waits, so that no large record waits for ever."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.free = bytes_max
        # What those that were woken have not taken yet. Not all of them need it in the end.
        self._promised = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    def take_nowait(self, size: int) -> bool:
        """Whether the bytes were free."""
        if size > self.free or (self._waiting and size > self._promised):
            return False
        self.free -= size
        self._promised = max(self._promised - size, 0)
        return True

    def give_back(self, size: int) -> None:
        self.free += size
        if self._waiting:
            self._grant()

    async def wait(self, size: int) -> None:
        """Returns when so many bytes are free and no earlier caller waits. Takes nothing."""
        if not self._waiting and size <= self.free:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (size, waiter)
        self._waiting.append(entry)
        try:
            await waiter
        except asyncio.CancelledError:
            if entry in self._waiting:
                self._waiting.remove(entry)
            self._grant()
            raise

    def _grant(self) -> None:
        # Those that are woken take their bytes in their next steps.
        free = self.free
        while self._waiting and self._waiting[0][0] <= free:
            size, waiter = self._waiting.popleft()
            free -= size
            if not waiter.done():
                waiter.set_result(None)
                self._promised = min(self._promised + size, self.free)
