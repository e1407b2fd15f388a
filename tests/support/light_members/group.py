"""A group of light members, and what can be seen of it from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from time import perf_counter
from types import TracebackType
from typing import Self

from ottla.channels import ChannelError
from ottla.runtime.network import Address
from ottla.runtime.tasks import Tasks
from tests.support.light_members.classic_member import LightClassicMember
from tests.support.light_members.consumer_member import LightConsumerMember
from tests.support.light_members.member import LightMember

KINDS: dict[str, type[LightMember]] = {
    "consumer": LightConsumerMember,
    "classic": LightClassicMember,
}
_CONNECTING_AT_ONCE = 50


class LightGroup:
    """Connected when its `async with` begins; its members join when `join` is called, and are gone
    after it."""

    def __init__(
        self,
        address: str,
        group_id: str,
        topic: str,
        *,
        protocol: str,
        member_count: int,
        partition_count: int,
    ) -> None:
        host, _, port = address.rpartition(":")
        self._address = Address(host, int(port))
        self._partition_count = partition_count
        self.members = [KINDS[protocol](group_id, topic, self._look) for _ in range(member_count)]
        for member in self.members:
            if isinstance(member, LightClassicMember):
                member.partition_count = partition_count
        self._tasks = Tasks(self._failed)
        self._running: dict[LightMember, asyncio.Task[object]] = {}
        self._error: BaseException | None = None
        self._goal: Callable[[], bool] | None = None
        self._reached = asyncio.Event()

    async def __aenter__(self) -> Self:
        for at in range(0, len(self.members), _CONNECTING_AT_ONCE):
            some = self.members[at : at + _CONNECTING_AT_ONCE]
            await asyncio.gather(*(member.connect(self._address) for member in some))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._tasks.close()
        for member in self.members:
            member.close()

    def join(self, members: Iterable[LightMember] | None = None) -> None:
        """All members at once, or only the given ones."""
        for member in self.members if members is None else members:
            self._running[member] = self._tasks.start("member", member.run())

    async def lose(self, member: LightMember) -> None:
        """It leaves."""
        task = self._running.pop(member)
        task.cancel()
        await asyncio.wait([task])
        self.members.remove(member)
        await member.leave()
        member.close()

    async def wait_spread(self, *, timeout_s: float) -> float:
        """The seconds until every partition had one owner, and all owners about as many."""
        started = perf_counter()
        self._goal = self._is_spread
        self._reached.clear()
        self._look()
        try:
            await asyncio.wait_for(self._reached.wait(), timeout_s)
        except TimeoutError:
            counts = sorted(len(member.owned) for member in self.members)
            raise TimeoutError(f"after {timeout_s:g} s members have {counts}") from self._error
        if self._error is not None:
            raise self._error
        return perf_counter() - started

    def _is_spread(self) -> bool:
        least, more = divmod(self._partition_count, len(self.members))
        counts = [len(member.owned) for member in self.members]
        if min(counts) < least or max(counts) > least + bool(more):
            return False
        return len(frozenset().union(*(member.owned for member in self.members))) == (
            self._partition_count
        )

    def _look(self) -> None:
        if self._goal is not None and self._goal():
            self._reached.set()

    def _failed(self, name: str, error: BaseException) -> None:
        if not isinstance(error, ChannelError) or self._error is None:
            self._error = error
        self._reached.set()
