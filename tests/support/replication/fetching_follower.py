"""A node with fetchers, and leaders that answer them as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ottla.channels import ChannelError
from ottla.model import NodeId, TopicPartition
from ottla.replication.fetchers import Fetchers
from ottla.replication.follower_context import FetchLimits, FollowerContext
from ottla.replication.partition import Partition
from ottla.replication.throttle import NoThrottle, ReplicationThrottle
from ottla.runtime.background import InlineBackground
from ottla.runtime.tasks import Tasks
from ottla.simulation import SimulatedDisk
from ottla.simulation.seams.clock import SimulatedClock
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.wire.schema import Message
from tests.support.replication.replicas import TOPIC_ID, new_partition, registered
from tests.support.storage.logs import new_log

EARLIEST = -2


class LeaderNode:
    """A leader that answers when a test says what with."""

    def __init__(self) -> None:
        self.requests: list[FetchRequest] = []
        self.listed: list[ListOffsetsRequest] = []
        self.offsets = (0, 0)
        self.is_closed = False
        self._answer: asyncio.Future[FetchResponse] | None = None

    async def send(self, request: Message, version: int, *, timeout_ms: int) -> Any:
        if isinstance(request, ListOffsetsRequest):
            self.listed.append(request)
            return self._list(request)
        assert isinstance(request, FetchRequest)
        assert self._answer is None, "one request at a time"
        self.requests.append(request)
        self._answer = asyncio.get_running_loop().create_future()
        return await self._answer

    def close(self) -> None:
        self.is_closed = True

    def answer(self, *partitions: PartitionData, error: int = 0) -> None:
        assert self._answer is not None, "nothing is asked"
        topic = FetchableTopicResponse(topic_id=TOPIC_ID, partitions=list(partitions))
        response = FetchResponse(
            session_id=7, error_code=error, responses=[topic] if partitions else []
        )
        self._answer.set_result(response)
        self._answer = None

    def fail(self) -> None:
        assert self._answer is not None
        self._answer.set_exception(ChannelError("away"))
        self._answer = None

    def _list(self, request: ListOffsetsRequest) -> ListOffsetsResponse:
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        ListOffsetsPartitionResponse(
                            partition_index=each.partition_index,
                            offset=self.offsets[each.timestamp != EARLIEST],
                        )
                        for each in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    # ---- what the last request says

    @property
    def requested(self) -> dict[int, int]:
        """By partition, the offset that the last request asks for."""
        return {
            each.partition: each.fetch_offset
            for topic in self.requests[-1].topics
            for each in topic.partitions
        }

    @property
    def forgotten(self) -> list[int]:
        return [
            each for topic in self.requests[-1].forgotten_topics_data for each in topic.partitions
        ]


class Follower:
    """Node 2 with its fetchers."""

    def __init__(self, throttle: ReplicationThrottle | None = None) -> None:
        self.clock = SimulatedClock()
        self.leaders: dict[int, LeaderNode] = {}
        self.failed: list[Partition] = []
        self.errors: list[BaseException] = []
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))
        context = FollowerContext(
            node_id=NodeId(2),
            broker_epoch=lambda: 20,
            clock=self.clock,
            commit=GroupCommit(InlineBackground(), self.tasks),
            storage_failed=lambda partition, _error: self.failed.append(partition),
            limits=FetchLimits(),
            throttle=throttle or NoThrottle(),
        )
        self.fetchers = Fetchers(context, self.tasks, self._open)

    def _open(self, leader: NodeId) -> LeaderNode:
        self.leaders[leader] = LeaderNode()
        return self.leaders[leader]

    def follow(self, index: int, *, disk: SimulatedDisk | None = None, **config: Any) -> Partition:
        partition = new_partition(new_log(disk, **config), TopicPartition("t", index))
        partition.become_follower(registered())
        self.fetchers.follow(partition)
        return partition

    async def settle(self, seconds: float = 0.0) -> None:
        """Lets everything happen that does not wait for an answer."""
        for _ in range(20):
            await asyncio.sleep(0)  # noqa: TID251 - lets tasks run
        if seconds:
            self.clock.advance(seconds)
            await self.settle()


def run_follower(scenario: Callable[[Follower], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def whole() -> None:
        here = Follower(**options)
        await scenario(here)
        await here.tasks.close()
        here.fetchers.close()
        assert not here.errors, here.errors
        assert all(leader.is_closed for leader in here.leaders.values())

    asyncio.run(asyncio.wait_for(whole(), 10))


def data(index: int, **fields: Any) -> PartitionData:
    return PartitionData(partition_index=index, **fields)


def end(partition: Partition) -> int:
    return partition.require_log().log_end_offset
