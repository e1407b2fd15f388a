"""Producer ids for idempotent producers: taken from the controller in blocks, ahead of need.

Ids of a block that a restart cuts short are never given out; there are enough of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

from ottla.model import ProducerId
from ottla.runtime.tasks import Tasks

# The next block is asked for when this many ids are left: more than can be asked for at once.
_LEFT_MIN: Final = 500


class ProducerIds:
    """Owned by the node's loop. `allocate` takes a block of ids for this node alone, durably."""

    def __init__(self, allocate: Callable[[], Awaitable[range]], tasks: Tasks) -> None:
        self._allocate = allocate
        self._tasks = tasks
        self._ids: Iterator[int] = iter(())
        self._left = 0
        self._allocation: asyncio.Task[object] | None = None

    def next_nowait(self) -> ProducerId | None:
        """An id nobody had before, or None while the next block is on its way."""
        if self._left <= _LEFT_MIN:
            self._allocate_ahead()
        if not self._left:
            return None
        self._left -= 1
        return ProducerId(next(self._ids))

    async def wait_next(self) -> ProducerId:
        """The same, when there is one. Raises what the controller answers if it gives none."""
        while (found := self.next_nowait()) is None:
            assert self._allocation is not None
            await asyncio.shield(self._allocation)
        return found
