"""Whatever becomes of requests and answers, a leader has every batch once and in order."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Coroutine
from enum import Enum
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.channels import ChannelError, NodeLink
from ottla.model import ErrorCode, ProducerEpoch, ProducerId, TimestampMs, TopicPartition
from ottla.pipeline.reading.cluster import SourceCluster
from ottla.pipeline.writing.batch_sender import BatchSender
from ottla.pipeline.writing.errors import FencedError
from ottla.pipeline.writing.options import parse_options
from ottla.pipeline.writing.transactions import SinkProducer
from ottla.runtime.network import Address
from ottla.runtime.system_network import SystemNetwork
from ottla.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.wire.records.header import read_header
from ottla.wire.records.row_batches import UnsealedBatch

PRODUCER = SinkProducer("writer", ProducerId(7), ProducerEpoch(0))
OPTIONS = parse_options({"kafka.bootstrap.servers": "nowhere:9092"}, is_streaming=True)
BODY = memoryview(bytes(7))


class Fate(Enum):
    """What becomes of a request: it is answered, or is lost on its way there or back."""

    TAKEN = 0
    MOVED = 1
    LOST = 2
    ANSWER_LOST = 3
    FENCED = 4


class Leader:
    """Of all partitions, with the rule by which a log takes batches of a producer."""

    def __init__(self, fates: list[Fate]) -> None:
        self.fates = fates
        self.sequences: dict[int, list[int]] = defaultdict(list)
        self.ends: dict[int, int] = defaultdict(int)

    def send(self, request: ProduceRequest, **_limits: int) -> asyncio.Future[Any]:
        fate = self.fates.pop(0) if self.fates else Fate.TAKEN
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        if fate is Fate.FENCED:
            # For good: epochs do not go back.
            self.fates.insert(0, Fate.FENCED)
            code = ErrorCode.INVALID_PRODUCER_EPOCH
        if fate in (Fate.TAKEN, Fate.ANSWER_LOST):
            code = self._append(request)
        # Known only when it is awaited, and more was sent behind it.
        if fate in (Fate.LOST, Fate.ANSWER_LOST):
            loop.call_soon(answer.set_exception, ChannelError("gone"))
        else:
            partition = PartitionProduceResponse(error_code=code)
            topic = TopicProduceResponse(partition_responses=[partition])
            loop.call_soon(answer.set_result, ProduceResponse(responses=[topic]))
        return answer

    async def send_request(self, request: ProduceRequest, **limits: int) -> Any:
        return await self.send(request, **limits)

    def _append(self, request: ProduceRequest) -> ErrorCode:
        data = request.topic_data[0].partition_data[0]
        assert data.records is not None
        header = read_header(cast(bytes, data.records))
        if header.base_sequence in self.sequences[data.index]:
            return ErrorCode.DUPLICATE_SEQUENCE_NUMBER
        if header.base_sequence != self.ends[data.index]:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        self.sequences[data.index].append(header.base_sequence)
        self.ends[data.index] += header.record_count
        return ErrorCode.NONE


class NoClock:
    """Time stands still: nothing waits, and nothing is ever late."""

    def now_ms(self) -> TimestampMs:
        return TimestampMs(0)

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None: ...


class OneLeader(SourceCluster):
    def __init__(self, leader: Leader) -> None:
        super().__init__(
            [Address("nowhere", 9092)],
            SystemNetwork(),
            cast(Any, NoClock()),
            client_id="test",
            timeout_ms=1_000,
        )
        self._leader = leader

    async def leader(self, partition: TopicPartition) -> NodeLink:
        return cast(NodeLink, self._leader)


async def send_all(leader: Leader, partitions: list[int]) -> None:
    sender = BatchSender(OneLeader(leader), PRODUCER, OPTIONS)
    for number, partition in enumerate(partitions):
        batch = UnsealedBatch(partition, 1 + number % 3, BODY)
        await sender.send(TopicPartition("t", partition), batch)
    await sender.flush()


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=30),
    st.lists(st.sampled_from([fate for fate in Fate if fate is not Fate.FENCED]), max_size=40),
)
def test_every_batch_is_taken_once_and_in_order(partitions: list[int], fates: list[Fate]) -> None:
    leader = Leader(fates)
    run(send_all(leader, partitions))
    expected: dict[int, list[int]] = defaultdict(list)
    ends: dict[int, int] = defaultdict(int)
    for number, partition in enumerate(partitions):
        expected[partition].append(ends[partition])
        ends[partition] += 1 + number % 3
    assert leader.sequences == expected


def test_a_producer_that_was_replaced_stops() -> None:
    with pytest.raises(FencedError, match="another attempt at the same rows has begun"):
        run(send_all(Leader([Fate.TAKEN, Fate.MOVED, Fate.FENCED]), [0] * 9))
