"""What the journal's reader does with a response that is damaged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ottla.client.two_phase.journal_reader import JournalReader
from ottla.model import KafkaError, Offset, TimestampMs, TopicPartition
from ottla.runtime.system_clock import SystemClock
from ottla.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from ottla.wire.records.builder import build_batch
from ottla.wire.records.record import Record

BATCH = bytes(build_batch([Record(Offset(0), TimestampMs(0), b"q", b"a decision")]))


class Cluster:
    """Answers fetches with these records, one after the other."""

    def __init__(self, *records: bytes) -> None:
        self.left = list(records)
        self.clock = SystemClock()

    async def wait_leader(self, _partition: TopicPartition, *, deadline: float) -> Any:
        del deadline
        return SimpleNamespace(node_id=1)

    async def send(self, _node_id: int, _request: Any, **_options: Any) -> FetchResponse:
        data = PartitionData(partition_index=0, records=self.left.pop(0))
        return FetchResponse(responses=[FetchableTopicResponse(topic="j", partitions=[data])])

    async def retrying(
        self, _what: str, attempt: Callable[[], Awaitable[Any]], *, deadline: float
    ) -> Any:
        del deadline
        while True:
            try:
                return await attempt()
            except KafkaError as error:
                if not error.retriable:
                    raise


@pytest.mark.parametrize("at", [20, 40, len(BATCH) - 3])
def test_a_damaged_batch_is_fetched_again(at: int) -> None:
    """Found by seed 26100156: a disk had flipped a bit of a decision."""
    damaged = bytearray(BATCH)
    damaged[at] ^= 4
    cluster: Any = Cluster(bytes(damaged), BATCH)
    reader = JournalReader(cluster, TopicPartition("j", 0), seconds=10)

    async def fetch() -> bytes:
        return bytes(await reader.fetch(0, deadline=cluster.clock.monotonic() + 10))

    assert asyncio.run(fetch()) == BATCH
    assert not cluster.left
