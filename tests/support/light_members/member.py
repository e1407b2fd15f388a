"""A member of a group and nothing else: it consumes nothing, so that thousands fit into a process.

It has one connection to its coordinator, partitions or none, and remembers what was taken from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from time import perf_counter
from typing import Any

from ottla.channels import Channel
from ottla.model import ErrorCode
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork
from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest
from ottla.wire.schema import Message

TIMEOUT_MS = 60_000
_FIND_COORDINATOR_VERSION = 4
_PAUSE_SECONDS = 0.02
# The errors of a coordinator that is not available yet.
_NOT_YET = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


class LightMember(ABC):
    """Made before its group starts it. `on_change` is called when it has other partitions."""

    def __init__(self, group_id: str, topic: str, on_change: Callable[[], None]) -> None:
        self.group_id = group_id
        self.topic = topic
        self.owned: frozenset[int] = frozenset()
        # How many partitions it had to let go of; how many answers it got, and after how long the
        # slowest of those that do not wait for other members.
        self.taken_count = 0
        self.answer_count = 0
        self.slowest_seconds = 0.0
        self._on_change = on_change
        self._clock = SystemClock()
        self._channel: Channel | None = None

    async def connect(self, address: Address) -> None:
        """To the coordinator of its group, of which any node knows."""
        while True:
            found = await self._find_coordinator(address)
            if found.error_code not in _NOT_YET:
                break
            await self._clock.sleep(_PAUSE_SECONDS)
        assert not found.error_code, found.error_message
        self._channel = await self._connected(Address(found.host, found.port))

    @abstractmethod
    async def run(self) -> None:
        """Joins and stays, until it is cancelled or leaves."""

    @abstractmethod
    async def leave(self) -> None:
        """Says that it goes, while it runs no more."""

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()

    # ---- for those who know how to join

    async def send_request(self, request: Message, version: int, *, is_prompt: bool = True) -> Any:
        """The response. Unless it is prompt, it waits for other members."""
        assert self._channel is not None, "not connected"
        sent_at = perf_counter()
        answer = await self._channel.send(request, version, timeout_ms=TIMEOUT_MS)
        self.answer_count += 1
        if is_prompt:
            self.slowest_seconds = max(self.slowest_seconds, perf_counter() - sent_at)
        return answer

    def own(self, partitions: frozenset[int]) -> None:
        if partitions != self.owned:
            self.taken_count += len(self.owned - partitions)
            self.owned = partitions
            self._on_change()

    async def sleep(self, milliseconds: int) -> None:
        await self._clock.sleep(milliseconds / 1_000)

    async def _connected(self, address: Address) -> Channel:
        return await Channel.connect(
            SystemNetwork(), self._clock, address, client_id="light", timeout_ms=TIMEOUT_MS
        )

    async def _find_coordinator(self, address: Address) -> Coordinator:
        channel = await self._connected(address)
        try:
            request = FindCoordinatorRequest(key_type=0, coordinator_keys=[self.group_id])
            answer = await channel.send(request, _FIND_COORDINATOR_VERSION, timeout_ms=TIMEOUT_MS)
        finally:
            channel.close()
        found: Coordinator = answer.coordinators[0]
        return found
