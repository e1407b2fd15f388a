"""Producer ids for idempotent producers: taken from the controller in blocks, ahead of need.

What a restart leaves of a block is never given out; there are enough ids.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from ottla.model import KafkaError, ProducerId
from ottla.runtime.tasks import Tasks

_log = logging.getLogger(__name__)

# The next block is asked for when no more ids than this are left.
_LEFT_MIN: Final = 100


class ProducerIds:
    """Owned by the node's loop. `allocate` takes a block of ids for this node alone, durably, or
    raises a `KafkaError`."""

    def __init__(self, allocate: Callable[[], Awaitable[range]], tasks: Tasks) -> None:
        self._allocate = allocate
        self._tasks = tasks
        self._block = self._next_block = range(0)
        # Done when the block that was asked for has come, or an error instead of it.
        self._allocation: asyncio.Future[KafkaError | None] | None = None

    def take_nowait(self) -> ProducerId | None:
        """An id that nobody had before; None while the next block is on its way."""
        if not self._block:
            self._block, self._next_block = self._next_block, range(0)
        if len(self._block) <= _LEFT_MIN and not self._next_block and self._allocation is None:
            self._allocation = asyncio.get_running_loop().create_future()
            self._tasks.start("producer ids", self._allocate_block(self._allocation))
        if not self._block:
            return None
        taken, self._block = self._block[0], self._block[1:]
        return ProducerId(taken)

    async def take(self) -> ProducerId:
        """The same, waiting for the block if need be. `KafkaError` says why there is none."""
        while (taken := self.take_nowait()) is None:
            assert self._allocation is not None
            error = await asyncio.shield(self._allocation)
            if error is not None:
                raise error
        return taken

    async def _allocate_block(self, allocation: asyncio.Future[KafkaError | None]) -> None:
        error = None
        try:
            self._next_block = await self._allocate()
        except KafkaError as refusal:
            _log.warning("no producer ids from the controller: %s", refusal)
            error = refusal
        self._allocation = None
        allocation.set_result(error)
