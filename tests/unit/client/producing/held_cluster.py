"""A cluster of a client that answers produce requests when a test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ottla.client.cluster import ClusterMetadata, PartitionLeader
from ottla.client.cluster.metadata import merged
from ottla.model import TopicPartition
from ottla.runtime.dice import SystemDice
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.tasks import Tasks
from ottla.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.wire.records import read_header
from tests.unit.client.cluster.scripted_brokers import metadata, topic


class HeldCluster:
    """One node leads all partitions of the topic t. `sent` has the partitions of each request,
    with the count of their records."""

    def __init__(self, partition_count: int = 1) -> None:
        self.clock = SystemClock()
        self.dice = SystemDice()
        self.tasks = Tasks(_failed)
        leaders = [(1, 0)] * partition_count
        response = metadata({1: Address("a", 1)}, topic("t", *leaders))
        self.metadata = merged(ClusterMetadata(), response, frozenset({"t"}))
        self.sent: list[dict[int, int]] = []
        self._held: list[asyncio.Future[None]] = []

    def on_metadata(self, callback: Callable[[], object]) -> None: ...

    def watch_topics(self, topics: object) -> None: ...

    def leader(self, partition: TopicPartition) -> PartitionLeader | None:
        return self.metadata.leader(partition)

    def is_connected(self, _node_id: int) -> bool:
        return True

    async def send(self, _node_id: int, request: ProduceRequest, **_how: Any) -> ProduceResponse:
        data = request.topic_data[0].partition_data
        self.sent.append(
            {each.index: read_header(each.records or b"").record_count for each in data}
        )
        self._held.append(asyncio.get_running_loop().create_future())
        await self._held[-1]
        answers = [PartitionProduceResponse(index=each.index, base_offset=0) for each in data]
        return ProduceResponse(
            responses=[TopicProduceResponse(name="t", partition_responses=answers)]
        )

    async def answer(self) -> None:
        """The requests that are in flight."""
        held, self._held = self._held, []
        for each in held:
            each.set_result(None)
        await turns()


async def turns() -> None:
    """Lets what is due on the loop run."""
    for _ in range(5):
        await SystemClock().sleep(0)


def _failed(name: str, error: BaseException) -> None:
    raise AssertionError(name) from error
