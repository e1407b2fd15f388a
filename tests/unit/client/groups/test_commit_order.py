"""Commits of one consumer are sent one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ottla.client import OffsetAndMetadata, TimedOutError, TopicPartition
from ottla.client.cluster import ClusterMetadata
from ottla.client.groups.offsets import OffsetsOfGroup
from ottla.client.records import ConsumerGroupMetadata
from ottla.runtime.system_clock import SystemClock
from ottla.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from tests.unit.client.cluster.scripted_brokers import run

PARTITION = TopicPartition("t", 0)


class HeldCoordinator:
    """Of a cluster; answers commits when it is told to."""

    def __init__(self) -> None:
        self.clock = SystemClock()
        self.metadata = ClusterMetadata()
        self.offsets: list[int] = []
        self.goes_on = asyncio.Event()

    async def retrying(
        self, _what: str, attempt: Callable[[], Awaitable[Any]], *, deadline: float
    ) -> Any:
        del deadline
        return await attempt()

    async def send_to_coordinator(
        self, _kind: object, _group: str, request: OffsetCommitRequest, **_how: Any
    ) -> OffsetCommitResponse:
        self.offsets.append(request.topics[0].partitions[0].committed_offset)
        await self.goes_on.wait()
        return OffsetCommitResponse(topics=[])


def test_a_commit_that_is_given_up_lets_no_later_one_overtake_an_earlier_one() -> None:
    async def scenario() -> None:
        cluster: Any = HeldCoordinator()
        group = OffsetsOfGroup(
            cluster, lambda: ConsumerGroupMetadata("g"), lambda _name: None, lambda *_fenced: None
        )

        def commit(offset: int, seconds: float = 20.0) -> asyncio.Task[None]:
            deadline = cluster.clock.monotonic() + seconds
            offsets = {PARTITION: OffsetAndMetadata(offset)}
            return asyncio.ensure_future(group.commit(offsets, deadline=deadline))

        first, second = commit(1), commit(2)
        await cluster.clock.sleep(0)
        with pytest.raises(TimedOutError):
            await commit(3, 0.01)
        second.cancel()
        fourth = commit(4)
        await asyncio.wait([second])
        await cluster.clock.sleep(0)
        assert cluster.offsets == [1], "its response has not come"
        cluster.goes_on.set()
        await asyncio.gather(first, fourth)
        assert cluster.offsets == [1, 4]

    run(scenario())
