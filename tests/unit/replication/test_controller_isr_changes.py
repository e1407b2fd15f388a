"""Proposals reach the controller together, and their answers the partitions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from ottla.channels import ChannelError
from ottla.metadata import PartitionRegistration
from ottla.model import ErrorCode, NodeId, TopicPartition
from ottla.replication.controller_isr_changes import ControllerIsrChanges
from ottla.replication.leadership import LeaderContext
from ottla.replication.partition import FetchingFollower, Partition
from ottla.runtime.tasks import Tasks
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from ottla.wire.messages.fetch import FetchPartition
from tests.support.controller.brokers import broker
from tests.support.replication.replicas import new_partition, registered


class Here:
    """A node that leads partitions, and a controller with given answers."""

    def __init__(self, count: int) -> None:
        self.clock = SimulatedClock()
        self.requests: list[AlterPartitionRequest] = []
        self.failures: list[Exception | int] = []
        self.refused: dict[int, int] = {}
        self.errors: list[BaseException] = []
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))
        self.changes = ControllerIsrChanges(
            NodeId(1), lambda: 10, self._send, self.clock, SeededDice(0), self.tasks
        )
        context = LeaderContext(
            NodeId(1),
            lambda: 10,
            lambda node_id: broker(node_id, epoch=10 * node_id),
            self.changes,
            1_000,
        )
        self.partitions: list[Partition] = []
        for number in range(count):
            partition = new_partition(name=TopicPartition("t", number))
            partition.become_leader(self.registration(), context, now_ms=0)
            self.partitions.append(partition)

    def registration(self) -> PartitionRegistration:
        return registered(isr=(1,), partition_epoch=4)

    def catch_up(self, partition: Partition, node_id: int = 2) -> None:
        partition.record_follower_fetch(
            FetchingFollower(node_id, 10 * node_id),
            FetchPartition(current_leader_epoch=0, last_fetched_epoch=-1),
            now_ms=0,
        )

    async def _send(self, request: AlterPartitionRequest) -> AlterPartitionResponse:
        self.requests.append(request)
        if self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, Exception):
                raise failure
            return AlterPartitionResponse(error_code=failure)
        topics = [
            AlterPartitionResponseTopicData(
                topic_id=topic.topic_id,
                partitions=[
                    AlterPartitionResponsePartitionData(
                        partition_index=each.partition_index,
                        error_code=self.refused.get(each.partition_index, 0),
                        leader_id=1,
                        leader_epoch=each.leader_epoch,
                        isr=[replica.broker_id for replica in each.new_isr_with_epochs],
                        partition_epoch=each.partition_epoch + 1,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return AlterPartitionResponse(topics=topics)

    async def settle(self, seconds: float = 1.0) -> None:
        for _ in range(20):
            await asyncio.sleep(0)  # noqa: TID251 - lets tasks run
            self.clock.advance(seconds / 20)

    def run(self, scenario: Coroutine[Any, Any, None]) -> None:
        async def whole() -> None:
            await scenario
            await self.tasks.close()
            assert not self.errors

        asyncio.run(asyncio.wait_for(whole(), 10))


def test_what_is_proposed_together_is_sent_together() -> None:
    here = Here(3)

    async def scenario() -> None:
        for partition in here.partitions:
            here.catch_up(partition)
        await here.settle()
        (request,) = here.requests
        assert (request.broker_id, request.broker_epoch) == (1, 10)
        (topic,) = request.topics
        assert [each.partition_index for each in topic.partitions] == [0, 1, 2]
        sent = topic.partitions[0]
        assert (sent.leader_epoch, sent.partition_epoch) == (0, 4)
        isr = [(each.broker_id, each.broker_epoch) for each in sent.new_isr_with_epochs]
        assert isr == [(1, 10), (2, 20)]
        assert all(partition.isr == {1, 2} for partition in here.partitions)
        assert all(partition.partition_epoch == 5 for partition in here.partitions)

    here.run(scenario())


def test_requests_that_fail_are_sent_again_until_they_are_answered() -> None:
    here = Here(1)
    here.failures = [
        ChannelError("away"),
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.STALE_BROKER_EPOCH,
        RuntimeError("an unexpected error"),
    ]

    async def scenario() -> None:
        here.catch_up(here.partitions[0])
        await here.settle()
        assert len(here.requests) == 5
        assert here.partitions[0].isr == {1, 2}

    here.run(scenario())


def test_a_refusal_reaches_its_partition_only() -> None:
    here = Here(2)
    here.refused = {1: ErrorCode.INELIGIBLE_REPLICA}

    async def scenario() -> None:
        for partition in here.partitions:
            here.catch_up(partition)
        await here.settle()
        assert [sorted(partition.isr) for partition in here.partitions] == [[1, 2], [1]]
        here.refused = {}
        here.catch_up(here.partitions[1])
        await here.settle()
        assert here.partitions[1].isr == {1, 2}

    here.run(scenario())


def test_one_change_after_the_other_needs_one_request_each() -> None:
    here = Here(1)

    async def scenario() -> None:
        here.catch_up(here.partitions[0], 2)
        await here.settle()
        here.catch_up(here.partitions[0], 3)
        await here.settle()
        assert here.partitions[0].isr == {1, 2, 3}
        assert len(here.requests) == 2

    here.run(scenario())
