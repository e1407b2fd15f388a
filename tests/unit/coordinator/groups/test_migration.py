"""Groups that change their protocol while they go on (KIP-848)."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.wire.messages.join_group import JoinGroupResponse
from ottla.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from tests.support.coordinator.consumer_members import Member, add_topic, all_of
from tests.support.coordinator.group_shard import GROUP, GroupShard

VERSION = 1
COUNT = 6


def subscription(*owned: int) -> dict[str, bytes]:
    message = ConsumerProtocolSubscription(
        topics=["t"], owned_partitions=[TopicPartition(topic="t", partitions=list(owned))]
    )
    return {"range": struct.pack(">h", VERSION) + message.encode(VERSION)}


def assignment(*numbers: int) -> bytes:
    message = ConsumerProtocolAssignment(
        assigned_partitions=[TopicPartition(topic="t", partitions=list(numbers))]
    )
    return struct.pack(">h", VERSION) + message.encode(VERSION)


def numbers(data: bytes) -> list[int]:
    found = ConsumerProtocolAssignment.decode(memoryview(data)[2:], VERSION)
    return sorted(number for topic in found.assigned_partitions for number in topic.partitions)


class ClassicConsumer:
    """A member of the classic protocol that follows the coordinator's responses."""

    def __init__(self, shard: GroupShard) -> None:
        self.shard = shard
        self.id = shard.new_member_id(protocols=subscription())
        self.generation = -1
        self.owned: list[int] = []

    def join(self) -> JoinGroupResponse:
        answer = self.shard.join(self.id, protocols=subscription(*self.owned))
        self.shard.clock.advance(0)
        response: JoinGroupResponse = answer.value
        assert response.error_code == 0
        self.generation = response.generation_id
        return response

    def sync(self, assignments: dict[str, bytes] | None = None) -> None:
        joined = JoinGroupResponse(member_id=self.id, generation_id=self.generation)
        answer = self.shard.sync(joined, assignments)
        assert answer.error == ErrorCode.NONE, answer.value
        self.owned = numbers(answer.value.assignment)

    def beat(self) -> ErrorCode:
        """A heartbeat, after which it has joined again if the response requires it."""
        error = self.shard.heartbeat(self.id, self.generation)
        if error == ErrorCode.REBALANCE_IN_PROGRESS:
            self.join()
            self.sync()
        return error


@pytest.fixture
def shard() -> GroupShard:
    image = MetadataImage()
    add_topic(image, "t", COUNT)
    return GroupShard(image=image)


@pytest.fixture
def classic(shard: GroupShard) -> ClassicConsumer:
    """Alone in a stable classic group."""
    consumer = ClassicConsumer(shard)
    consumer.join()
    consumer.sync({consumer.id: assignment(*range(COUNT))})
    assert consumer.owned == list(range(COUNT))
    return consumer


def settle(classic: ClassicConsumer, *members: Member) -> None:
    for _ in range(4):
        classic.beat()
        for member in members:
            member.beat()


def kind(shard: GroupShard) -> str:
    return shard.machine.groups.require(GROUP).type.value


def test_the_first_member_of_the_consumer_protocol_upgrades_the_group(
    shard: GroupShard, classic: ClassicConsumer
) -> None:
    member = Member(shard, "new").join()
    assert kind(shard) == "Consumer"
    assert member.owned == set(), "everything is still in use"
    settle(classic, member)
    shared = sorted([*((("t", number)) for number in classic.owned), *member.owned])
    assert shared == all_of("t", COUNT)
    assert len(classic.owned) == COUNT // 2
    assert shard.state == "Stable"


def test_an_upgraded_group_survives_a_failover(shard: GroupShard, classic: ClassicConsumer) -> None:
    member = Member(shard, "new").join()
    settle(classic, member)
    classic.shard = member.shard = next_shard = shard.failover()
    assert kind(next_shard) == "Consumer"
    assert classic.beat() == ErrorCode.NONE
    assert next_shard.state == "Stable"


def test_the_last_member_of_the_consumer_protocol_downgrades_the_group(
    shard: GroupShard, classic: ClassicConsumer
) -> None:
    member = Member(shard, "new").join()
    settle(classic, member)
    member.leave()
    assert kind(shard) == "Classic"
    assert shard.heartbeat(classic.id, classic.generation) == ErrorCode.REBALANCE_IN_PROGRESS
    joined = classic.join()
    assert joined.leader == classic.id
    classic.sync({classic.id: assignment(*range(COUNT))})
    assert classic.owned == list(range(COUNT))
    next_shard = shard.failover()
    assert (kind(next_shard), next_shard.state) == ("Classic", "Stable")


def test_members_of_the_classic_protocol_can_leave_an_upgraded_group(
    shard: GroupShard, classic: ClassicConsumer
) -> None:
    member = Member(shard, "new").join()
    settle(classic, member)
    (answer,) = shard.leave(classic.id).value.members
    assert answer.error_code == 0
    for _ in range(3):
        member.beat()
    assert sorted(member.owned) == all_of("t", COUNT)


def test_a_silent_member_of_the_classic_protocol_loses_its_place(
    shard: GroupShard, classic: ClassicConsumer
) -> None:
    member = Member(shard, "new").join()
    settle(classic, member)
    for _ in range(3):
        shard.clock.advance(5)
        member.beat()
    member.beat()
    assert sorted(member.owned) == all_of("t", COUNT)
    assert shard.heartbeat(classic.id, classic.generation) == ErrorCode.UNKNOWN_MEMBER_ID


def test_another_member_of_the_classic_protocol_joins_an_upgraded_group(
    shard: GroupShard, classic: ClassicConsumer
) -> None:
    member = Member(shard, "new").join()
    second = ClassicConsumer(shard)
    second.join()
    second.sync()
    for _ in range(3):
        settle(classic, member)
        second.beat()
    owned = sorted([*classic.owned, *second.owned, *(number for _, number in member.owned)])
    assert owned == list(range(COUNT))
    assert len(second.owned) == 2


@pytest.mark.parametrize("policy", ["disabled", "downgrade"])
def test_a_group_is_upgraded_only_if_that_is_allowed(policy: str) -> None:
    image = MetadataImage()
    add_topic(image, "t", COUNT)
    shard = GroupShard(image=image, configs={"group.consumer.migration.policy": policy})
    consumer = ClassicConsumer(shard)
    consumer.join()
    consumer.sync({consumer.id: assignment(0)})
    member = Member(shard, "new")
    fields: dict[str, Any] = {"rebalance_timeout_ms": 1, "topic_partitions": []}
    assert member.send_heartbeat(**fields, **member.joining).error == ErrorCode.GROUP_ID_NOT_FOUND
    assert kind(shard) == "Classic"


def test_members_that_are_no_consumers_are_not_upgraded(shard: GroupShard) -> None:
    shard.join(version=3, protocol_type="connect")
    shard.clock.advance(0)
    member = Member(shard, "new")
    fields: dict[str, Any] = {"rebalance_timeout_ms": 1, "topic_partitions": []}
    assert member.send_heartbeat(**fields, **member.joining).error == ErrorCode.GROUP_ID_NOT_FOUND


def test_an_emptied_group_is_classic_again_if_its_next_member_is(shard: GroupShard) -> None:
    Member(shard, "new").join().leave()
    consumer = ClassicConsumer(shard)
    assert kind(shard) == "Classic"
    consumer.join()
    consumer.sync({consumer.id: assignment(1)})
    assert kind(shard.failover()) == "Classic"
