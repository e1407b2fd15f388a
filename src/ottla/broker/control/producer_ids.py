"""Producer ids, allocated from the controller in blocks and prefetched.

The ids of a block that are unused at a restart are never used; there are enough of them.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.cluster_view import ClusterView
from ottla.channels import ChannelError
from ottla.model import ErrorCode, KafkaError, ProducerId
from ottla.runtime.tasks import Tasks
from ottla.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest

_log = logging.getLogger(__name__)

# The next block is requested when at most this many ids are left.
_LEFT_MIN: Final = 100


class ProducerIds:
    """Owned by the node's loop. Allocation works once the node is registered."""

    def __init__(self, cluster: ClusterView, controller: ActiveController, tasks: Tasks) -> None:
        self._cluster = cluster
        self._controller = controller
        self._tasks = tasks
        self._block = self._next_block = range(0)
        # The request in flight, if any: its result is None, or the error.
        self._allocation: asyncio.Future[KafkaError | None] | None = None

    def take_nowait(self) -> ProducerId | None:
        """An unused producer id, or None while the next block is being allocated."""
        if not self._block:
            self._block, self._next_block = self._next_block, range(0)
        self._maybe_allocate()
        if not self._block:
            return None
        taken, self._block = self._block[0], self._block[1:]
        return ProducerId(taken)

    @property
    def has_any(self) -> bool:
        return bool(self._block or self._next_block)

    async def take(self) -> ProducerId:
        """An unused producer id. Waits for the next block; raises `KafkaError` if that fails."""
        while (taken := self.take_nowait()) is None:
            await self._wait_block()
        return taken

    async def wait_any(self) -> None:
        """Returns when there are unused ids. Raises `KafkaError` if the allocation fails."""
        while not self.has_any:
            self._maybe_allocate()
            await self._wait_block()

    async def _wait_block(self) -> None:
        assert self._allocation is not None
        error = await asyncio.shield(self._allocation)
        if error is not None:
            raise error

    def _maybe_allocate(self) -> None:
        if len(self._block) <= _LEFT_MIN and not self._next_block and self._allocation is None:
            self._allocation = asyncio.get_running_loop().create_future()
            self._tasks.start("producer ids", self._allocate_block(self._allocation))

    async def _allocate_block(self, allocation: asyncio.Future[KafkaError | None]) -> None:
        error = None
        try:
            self._next_block = await self._allocate()
        except KafkaError as refusal:
            _log.warning("cannot get producer ids from the controller: %s", refusal)
            error = refusal
        self._allocation = None
        allocation.set_result(error)

    async def _allocate(self) -> range:
        request = AllocateProducerIdsRequest(
            broker_id=self._cluster.node_id, broker_epoch=self._cluster.broker_epoch()
        )
        try:
            block = await self._controller.send(request)
        except ChannelError as error:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error)) from error
        if block.error_code:
            refusal = ErrorCode(block.error_code)
            raise KafkaError(refusal, "the controller returned no producer ids")
        start = block.producer_id_start
        return range(start, start + block.producer_id_len)
