"""Markers on their way: to this node, to others, and again when it did not work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

from ottla.broker.coordinators.transaction_markers import MarkerSender
from ottla.channels import ChannelError
from ottla.coordinator.runtime.transactional import TransactionMarker
from ottla.coordinator.transactions.markers import TransactionMarkers
from ottla.model import Buffer, ErrorCode, TopicPartition
from ottla.runtime.tasks import Tasks
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from tests.support.storage.held_background import settle

HERE = 1
A, B, C = (TopicPartition("t", index) for index in range(3))
EPOCH = 9


class World:
    """A broker that leads what `leaders` says, among others that answer as the test says."""

    def __init__(self) -> None:
        self.leaders = {A: HERE, B: 2, C: 3}
        self.clock = SimulatedClock()
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))
        self.errors: list[BaseException] = []
        self.sent: list[tuple[int, WriteTxnMarkersRequest]] = []
        self.appended: list[tuple[TopicPartition, TransactionMarker]] = []
        # What partitions say, one after the other, before they say yes.
        self.codes: dict[TopicPartition, list[ErrorCode]] = {}
        self.unreachable: set[int] = set()
        self.held: list[asyncio.Future[None]] | None = None
        self.pending: list[Callable[[], None]] | None = None
        self.written: list[TransactionMarkers] = []
        cluster: Any = SimpleNamespace(node_id=HERE, image=SimpleNamespace(topics=self))
        peers: Any = SimpleNamespace(send=self.send)
        appender: Any = SimpleNamespace(append=self.append)
        self.sender = MarkerSender(cluster, peers, appender, self.clock, SeededDice(1), self.tasks)
        self.shard = self.sender.writer(lambda: EPOCH, self.written.append)

    @property
    def by_name(self) -> dict[str, Any]:
        partitions = {
            name.partition: SimpleNamespace(leader=leader) for name, leader in self.leaders.items()
        }
        return {"t": SimpleNamespace(partitions=partitions)} if partitions else {}

    def append(
        self,
        name: TopicPartition,
        marker: TransactionMarker,
        batch: Buffer,
        callback: Callable[[ErrorCode], None],
        *,
        now_ms: int,
    ) -> None:
        assert batch == marker.batch(now_ms=now_ms)
        self.appended.append((name, marker))
        code = self.code(name)
        if self.pending is None:
            callback(code)
        else:
            self.pending.append(lambda: callback(code))

    async def send(
        self, node_id: int, _lane: Any, request: Any, version: int, *, timeout_ms: int
    ) -> Any:
        assert version == 2
        assert timeout_ms > 0
        self.sent.append((node_id, request))
        if self.held is not None:
            held = asyncio.get_running_loop().create_future()
            self.held.append(held)
            await held
        if node_id in self.unreachable:
            raise ChannelError("nobody listens")
        return self.answer(request)

    def answer(self, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
        return WriteTxnMarkersResponse(
            markers=[
                WritableTxnMarkerResult(
                    producer_id=marker.producer_id,
                    topics=[
                        WritableTxnMarkerTopicResult(
                            name=topic.name,
                            partitions=[
                                WritableTxnMarkerPartitionResult(
                                    partition_index=index,
                                    error_code=self.code(TopicPartition(topic.name, index)),
                                )
                                for index in topic.partition_indexes
                            ],
                        )
                        for topic in marker.topics
                    ],
                )
                for marker in request.markers
            ]
        )

    def code(self, name: TopicPartition) -> ErrorCode:
        left = self.codes.get(name)
        return left.pop(0) if left else ErrorCode.NONE

    def requested(self) -> list[tuple[int, list[int]]]:
        """To which nodes requests went, and for which partitions."""
        here = [(HERE, [name.partition]) for name, _ in self.appended]
        return here + [
            (
                node_id,
                [
                    index
                    for marker in request.markers
                    for topic in marker.topics
                    for index in topic.partition_indexes
                ],
            )
            for node_id, request in self.sent
        ]


def markers(*partitions: TopicPartition, producer_id: int = 7) -> TransactionMarkers:
    return TransactionMarkers(f"id-{producer_id}", producer_id, 3, True, 2, frozenset(partitions))


def run(scenario: Callable[[World], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        world = World()
        await scenario(world)
        await world.tasks.close()
        assert world.errors == []

    asyncio.run(whole())


def test_every_leader_is_sent_its_own() -> None:
    async def scenario(world: World) -> None:
        wanted = markers(A, B, C)
        world.shard.write(wanted)
        await settle()
        assert sorted(world.requested()) == [(1, [0]), (2, [1]), (3, [2])]
        marker = world.sent[0][1].markers[0]
        assert (marker.producer_id, marker.producer_epoch) == (7, 3)
        assert (marker.transaction_result, marker.coordinator_epoch) == (True, EPOCH)
        assert marker.transaction_version == 2
        assert world.appended == [(A, TransactionMarker(7, 3, EPOCH, True, 2))]
        assert world.written == [wanted]

    run(scenario)


def test_own_partitions_take_no_connection_and_no_time() -> None:
    async def scenario(world: World) -> None:
        world.shard.write(markers(A))
        assert len(world.written) == 1

    run(scenario)


def test_own_partitions_that_wait_for_replicas_are_waited_for() -> None:
    async def scenario(world: World) -> None:
        world.pending = []
        world.shard.write(markers(A))
        assert world.written == []
        world.pending.pop()()
        assert len(world.written) == 1

    run(scenario)


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
    ],
)
def test_failed_writes_are_repeated_at_the_new_leader(code: ErrorCode) -> None:
    async def scenario(world: World) -> None:
        world.codes[B] = [code, code]
        world.shard.write(markers(A, B))
        await settle()
        assert world.written == []
        world.leaders[B] = 3
        for _ in range(2):
            world.clock.advance(1)
            await settle()
        assert sorted(world.requested()) == [(1, [0]), (2, [1]), (3, [1]), (3, [1])]
        assert len(world.written) == 1

    run(scenario)


def test_request_to_an_unreachable_node_is_repeated() -> None:
    async def scenario(world: World) -> None:
        world.unreachable = {2}
        world.shard.write(markers(B))
        await settle()
        assert world.written == []
        world.unreachable.clear()
        world.clock.advance(1)
        await settle()
        assert len(world.written) == 1

    run(scenario)


def test_partition_without_a_leader_is_waited_for() -> None:
    async def scenario(world: World) -> None:
        world.leaders[B] = -1
        world.shard.write(markers(B))
        world.clock.advance(1)
        await settle()
        assert (world.sent, world.written) == ([], [])
        world.leaders[B] = 2
        world.clock.advance(1)
        await settle()
        assert len(world.written) == 1

    run(scenario)


def test_partition_that_is_gone_takes_no_marker() -> None:
    async def scenario(world: World) -> None:
        world.codes[B] = [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        world.shard.write(markers(B))
        await settle()
        world.leaders.clear()
        world.clock.advance(1)
        await settle()
        assert len(world.written) == 1
        world.shard.write(markers(A, C, producer_id=8))
        assert len(world.written) == 2

    run(scenario)


def test_coordinator_that_was_overtaken_gives_up() -> None:
    async def scenario(world: World) -> None:
        world.codes[B] = [ErrorCode.INVALID_PRODUCER_EPOCH]
        world.shard.write(markers(A, B))
        await settle()
        world.clock.advance(10)
        await settle()
        assert world.written == []
        assert world.requested() == [(1, [0]), (2, [1])]

    run(scenario)


def test_coordinator_that_is_fenced_goes_on_until_it_is_closed() -> None:
    """It may have its partition again, and not know yet that it had lost it (seed 9300325)."""

    async def scenario(world: World) -> None:
        world.codes[B] = [ErrorCode.TRANSACTION_COORDINATOR_FENCED] * 2
        world.shard.write(markers(B))
        await settle()
        world.clock.advance(100)
        await settle()
        assert world.written == []
        world.clock.advance(100)
        await settle()
        assert len(world.written) == 1
        world.codes[B] = [ErrorCode.TRANSACTION_COORDINATOR_FENCED] * 9
        world.shard.write(markers(B))
        await settle()
        world.shard.close()
        count = len(world.sent)
        world.clock.advance(1_000)
        await settle()
        assert len(world.sent) == count

    run(scenario)


def test_markers_for_one_node_go_together_while_it_is_busy() -> None:
    async def scenario(world: World) -> None:
        world.held = []
        for producer_id in range(5):
            world.shard.write(markers(B, producer_id=producer_id))
            await settle()
        assert len(world.sent) == 1
        world.held.pop().set_result(None)
        await settle()
        assert [len(request.markers) for _, request in world.sent] == [1, 4]
        world.held.pop().set_result(None)
        await settle()
        assert sorted(each.producer_id for each in world.written) == list(range(5))

    run(scenario)


def test_next_leader_does_not_wait_for_one_that_hangs() -> None:
    async def scenario(world: World) -> None:
        world.held = []
        world.shard.write(markers(B, C))
        await settle()
        to_2, to_3 = world.held
        to_3.set_result(None)
        await settle()
        world.held = None
        world.leaders[B] = 3
        world.sender.leaders_changed()
        world.sender.leaders_changed()
        await settle()
        assert world.requested() == [(2, [1]), (3, [2]), (3, [1])]
        assert len(world.written) == 1
        world.unreachable = {2}
        to_2.set_result(None)
        await settle()
        world.clock.advance(1)
        await settle()
        assert len(world.sent) == 3
        assert len(world.written) == 1

    run(scenario)


def test_coordinator_that_is_closed_writes_no_more() -> None:
    async def scenario(world: World) -> None:
        world.unreachable = {2}
        world.shard.write(markers(A, B))
        await settle()
        world.shard.close()
        world.unreachable.clear()
        world.clock.advance(10)
        await settle()
        assert world.written == []
        assert world.requested() == [(1, [0]), (2, [1])]

    run(scenario)
