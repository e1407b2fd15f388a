"""Groups of the consumer protocol (KIP-848)."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.configs import ConfigResource, ConfigResourceType
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.support.coordinator.consumer_members import REBALANCE_MS, Member, add_topic, all_of
from tests.support.coordinator.group_shard import GROUP, GroupShard

SESSION_S = 45


@pytest.fixture
def shard() -> GroupShard:
    image = MetadataImage()
    add_topic(image, "t", 6)
    return GroupShard(image=image)


def settle(*members: Member) -> None:
    for _ in range(4):
        for member in members:
            member.beat()


def everything(*members: Member) -> list[tuple[str, int]]:
    return sorted(each for member in members for each in member.owned)


def test_the_first_member_is_given_everything_at_once(shard: GroupShard) -> None:
    member = Member(shard, "a").join()
    assert everything(member) == all_of("t", 6)
    assert (member.epoch, shard.state) == (1, "Stable")


def test_a_second_member_waits_until_the_first_has_let_go(shard: GroupShard) -> None:
    first = Member(shard, "a").join()
    second = Member(shard, "b").join()
    assert second.owned == set()
    assert shard.state == "Reconciling"
    first.beat()
    assert len(first.owned) == 3
    assert second.beat().owned == set(), "it has not confirmed the revocation"
    assert first.epoch == 1
    first.beat()
    assert first.epoch == 2
    second.beat()
    assert everything(first, second) == all_of("t", 6)
    assert shard.state == "Stable"


def test_a_heartbeat_that_says_nothing_new_writes_nothing(shard: GroupShard) -> None:
    member = Member(shard, "a").join()
    member.beat()
    count = len(shard.log.batches)
    answer = member.send_heartbeat()
    assert answer.value.assignment is None
    assert len(shard.log.batches) == count


def test_a_member_that_missed_its_assignment_receives_it_again(shard: GroupShard) -> None:
    first, second = Member(shard, "a").join(), Member(shard, "b").join()
    before = set(first.owned)
    first.beat()
    first.owned = before
    settle(first, second)
    assert everything(first, second) == all_of("t", 6)
    assert len(first.owned) == 3


def test_members_come_again_soon_while_the_group_changes(shard: GroupShard) -> None:
    first = Member(shard, "a").join()
    assert first.send_heartbeat().value.heartbeat_interval_ms == 500
    shard.clock.advance(5)
    assert first.send_heartbeat().value.heartbeat_interval_ms == 5_000
    Member(shard, "b").join()
    assert first.send_heartbeat().value.heartbeat_interval_ms == 500
    shard.clock.advance(5)
    assert first.send_heartbeat().value.heartbeat_interval_ms == 5_000


def test_partitions_of_a_member_that_leaves_go_to_the_others(shard: GroupShard) -> None:
    members = [Member(shard, name).join() for name in "abc"]
    settle(*members)
    assert members[0].leave().error == ErrorCode.NONE
    settle(*members[1:])
    assert everything(*members[1:]) == all_of("t", 6)
    assert members[0].send_heartbeat().error == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_is_silent_loses_its_place(shard: GroupShard) -> None:
    first, second = Member(shard, "a").join(), Member(shard, "b").join()
    settle(first, second)
    for _ in range(SESSION_S // 5):
        shard.clock.advance(5)
        second.beat(sends_owned=False)
    settle(second)
    assert everything(second) == all_of("t", 6)
    assert first.send_heartbeat().error == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_has_a_session_timeout_and_an_interval_of_its_own() -> None:
    shard = GroupShard(configs={"group.consumer.min.session.timeout.ms": "6000"})
    add_topic(shard.image, "t", 2)
    own = {"consumer.session.timeout.ms": "10000", "consumer.heartbeat.interval.ms": "7000"}
    shard.image.configs[ConfigResource(ConfigResourceType.GROUP, GROUP)] = own
    first = Member(shard, "a").join()
    shard.clock.advance(8)
    assert first.send_heartbeat().value.heartbeat_interval_ms == 7_000
    shard.clock.advance(9.9)
    assert first.try_beat() == ErrorCode.NONE
    shard.clock.advance(10.1)
    assert first.try_beat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_changed_session_timeout_counts_from_the_next_heartbeat(shard: GroupShard) -> None:
    first = Member(shard, "a").join()
    own = {"consumer.session.timeout.ms": "60000"}
    shard.image.configs[ConfigResource(ConfigResourceType.GROUP, GROUP)] = own
    first.beat()
    shard.clock.advance(59)
    assert first.try_beat() == ErrorCode.NONE


def test_a_member_that_does_not_let_go_in_time_loses_its_place(shard: GroupShard) -> None:
    first, second = Member(shard, "a").join(), Member(shard, "b").join()
    first.beat()
    for _ in range(REBALANCE_MS // 5_000):
        first.send_heartbeat()
        second.beat()
        shard.clock.advance(5)
    assert first.send_heartbeat().error == ErrorCode.UNKNOWN_MEMBER_ID
    second.beat()
    assert everything(second) == all_of("t", 6)


def test_new_partitions_are_assigned_with_the_next_heartbeat(shard: GroupShard) -> None:
    member = Member(shard, "a").join()
    add_topic(shard.image, "t", 8)
    shard.shard.perform(lambda groups: groups.topics_changed())
    assert everything(member.beat()) == all_of("t", 8)
    assert member.epoch == 2


def test_a_topic_that_comes_later_is_assigned_when_it_does(shard: GroupShard) -> None:
    member = Member(shard, "a", subscribed_topic_names=["later"]).join()
    assert member.owned == set()
    add_topic(shard.image, "later", 2)
    shard.shard.perform(lambda groups: groups.topics_changed())
    assert everything(member.beat()) == all_of("later", 2)


def test_a_member_changes_what_it_wants(shard: GroupShard) -> None:
    add_topic(shard.image, "u", 2)
    member = Member(shard, "a").join()
    member.beat(subscribed_topic_names=["u"])
    settle(member)
    assert everything(member) == all_of("u", 2)


def test_a_regular_expression_stands_for_the_topics_that_there_are(shard: GroupShard) -> None:
    add_topic(shard.image, "x-1", 1)
    member = Member(shard, "a", subscribed_topic_names=None, subscribed_topic_regex="x-.*").join()
    assert everything(member) == all_of("x-1", 1)
    add_topic(shard.image, "x-2", 1)
    shard.shard.perform(lambda groups: groups.topics_changed())
    assert everything(member.beat()) == [("x-1", 0), ("x-2", 0)]
    member.beat(subscribed_topic_regex="", subscribed_topic_names=["t"])
    settle(member)
    assert everything(member) == all_of("t", 6)
    group: Any = shard.machine.groups.require(GROUP)
    assert group.regexes == {}


def test_a_regular_expression_that_is_none_is_refused(shard: GroupShard) -> None:
    member = Member(shard, "a", subscribed_topic_names=None, subscribed_topic_regex="(")
    answer = member.send_heartbeat(rebalance_timeout_ms=1, topic_partitions=[], **member.joining)
    assert answer.error == ErrorCode.INVALID_REGULAR_EXPRESSION


def test_all_of_it_survives_a_failover(shard: GroupShard) -> None:
    first, second = Member(shard, "a").join(), Member(shard, "b").join()
    first.beat()
    next_shard = shard.failover()
    for member in (first, second):
        member.shard = next_shard
    settle(first, second)
    assert everything(first, second) == all_of("t", 6)
    assert next_shard.state == "Stable"


def test_sessions_go_on_after_a_failover(shard: GroupShard) -> None:
    member = Member(shard, "a").join()
    member.shard = shard = shard.failover()
    shard.clock.advance(SESSION_S)
    assert member.send_heartbeat().error == ErrorCode.UNKNOWN_MEMBER_ID
    assert shard.state == "Empty"


def test_epochs_that_are_not_the_members_are_fenced(shard: GroupShard) -> None:
    member = Member(shard, "a").join()
    assert member.send_heartbeat(member_epoch=2).error == ErrorCode.FENCED_MEMBER_EPOCH
    Member(shard, "b").join()
    settle(member)
    assert member.send_heartbeat(member_epoch=1).error == ErrorCode.FENCED_MEMBER_EPOCH


def test_an_answer_that_got_lost_does_no_harm(shard: GroupShard) -> None:
    member = Member(shard, "a").join()
    add_topic(shard.image, "t", 7)
    shard.shard.perform(lambda groups: groups.topics_changed())
    before = set(member.owned)
    member.beat()
    member.epoch, member.owned = 1, before
    assert member.beat(subscribed_topic_names=["t"], rebalance_timeout_ms=REBALANCE_MS).epoch == 2
    assert everything(member) == all_of("t", 7)


def test_a_static_member_comes_back_to_what_it_had(shard: GroupShard) -> None:
    first = Member(shard, "a", instance_id="1").join()
    second = Member(shard, "b", instance_id="2").join()
    settle(first, second)
    had, group_epoch = set(first.owned), first.epoch
    assert first.leave(-2).value.member_epoch == -2
    again = Member(shard, "c", instance_id="1").join()
    assert (again.owned, again.epoch) == (had, group_epoch)
    second.beat()
    assert second.epoch == group_epoch, "the other members keep their epoch"
    assert first.send_heartbeat().error == ErrorCode.FENCED_INSTANCE_ID


def test_an_instance_is_one_member_at_a_time(shard: GroupShard) -> None:
    Member(shard, "a", instance_id="1").join()
    other = Member(shard, "b", instance_id="1")
    answer = other.send_heartbeat(rebalance_timeout_ms=1, topic_partitions=[], **other.joining)
    assert answer.error == ErrorCode.UNRELEASED_INSTANCE_ID


def test_a_static_member_that_does_not_come_back_goes(shard: GroupShard) -> None:
    member = Member(shard, "a", instance_id="1").join()
    member.leave(-2)
    assert shard.state != "Empty"
    shard.clock.advance(SESSION_S)
    assert shard.state == "Empty"


def test_a_group_has_a_largest_size() -> None:
    image = MetadataImage()
    add_topic(image, "t", 1)
    shard = GroupShard(image=image, configs={"group.consumer.max.size": "1"})
    Member(shard, "a").join().join()
    other = Member(shard, "b")
    answer = other.send_heartbeat(rebalance_timeout_ms=1, topic_partitions=[], **other.joining)
    assert answer.error == ErrorCode.GROUP_MAX_SIZE_REACHED


@pytest.mark.parametrize(
    "wrong",
    [
        {"member_id": ""},
        {"member_epoch": -3},
        {"rebalance_timeout_ms": -1},
        {"topic_partitions": None},
        {"subscribed_topic_names": []},
        {"instance_id": ""},
        {"rack_id": ""},
        {"member_epoch": -2},
    ],
)
def test_requests_that_make_no_sense_are_refused(shard: GroupShard, wrong: dict[str, Any]) -> None:
    fields = {
        "rebalance_timeout_ms": REBALANCE_MS,
        "topic_partitions": [],
        "subscribed_topic_names": ["t"],
        **wrong,
    }
    assert Member(shard, "a").send_heartbeat(**fields).error == ErrorCode.INVALID_REQUEST


def test_an_assignor_that_is_not_there_is_refused(shard: GroupShard) -> None:
    answer = Member(shard, "a").send_heartbeat(
        rebalance_timeout_ms=1,
        topic_partitions=[],
        subscribed_topic_names=["t"],
        server_assignor="best",
    )
    assert answer.error == ErrorCode.UNSUPPORTED_ASSIGNOR


def test_the_assignor_that_members_name_is_used(shard: GroupShard) -> None:
    members = [Member(shard, name, server_assignor="range").join() for name in "ba"]
    settle(*members)
    assert sorted(members[1].owned) == all_of("t", 3)


def test_heartbeat_and_leave_of_an_unknown_group_are_refused(shard: GroupShard) -> None:
    assert Member(shard, "a").send_heartbeat(member_epoch=1).error == ErrorCode.GROUP_ID_NOT_FOUND
    assert Member(shard, "a").leave().error == ErrorCode.GROUP_ID_NOT_FOUND


def test_commits_are_fenced_by_the_epoch(shard: GroupShard) -> None:
    member = Member(shard, "a").join()

    def commit(epoch: int, member_id: str, version: int = 9) -> ErrorCode:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
        request = OffsetCommitRequest(
            group_id=GROUP,
            generation_id_or_member_epoch=epoch,
            member_id=member_id,
            topics=[OffsetCommitRequestTopic(name="t", partitions=[partition])],
        )
        answer = shard.submit(lambda groups: groups.commit(request, version=version))
        return ErrorCode.NONE if hasattr(answer.value, "topics") else answer.error

    assert commit(1, member.id) == ErrorCode.NONE
    assert commit(0, member.id) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(1, "stranger") == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(1, member.id, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert commit(-1, "") == ErrorCode.UNKNOWN_MEMBER_ID
    member.leave()
    assert commit(-1, "") == ErrorCode.NONE


def test_an_empty_classic_group_becomes_one_and_keeps_its_offsets(shard: GroupShard) -> None:
    (classic,) = shard.stable()
    shard.leave(classic.member_id)
    member = Member(shard, "a").join()
    assert everything(member) == all_of("t", 6)
    shard = shard.failover()
    assert shard.machine.groups.require(GROUP).type.value == "Consumer"


def test_an_empty_group_is_deleted(shard: GroupShard) -> None:
    member = Member(shard, "a").join()
    refused = shard.submit(lambda groups: groups.delete_group(GROUP))
    assert refused.error == ErrorCode.NON_EMPTY_GROUP
    member.leave()
    assert shard.submit(lambda groups: groups.delete_group(GROUP)).error == ErrorCode.NONE
    assert len(shard.machine.groups) == 0
    assert len(shard.failover().machine.groups) == 0


def test_a_group_is_described_with_what_members_have_and_are_to_have(shard: GroupShard) -> None:
    Member(shard, "a").join()
    Member(shard, "b").join()
    described = shard.machine.describe_consumer(GROUP)
    assert (described.group_state, described.assignor_name) == ("Reconciling", "uniform")
    first, second = described.members
    assert first.assignment.topic_partitions[0].partitions == [0, 1, 2, 3, 4, 5]
    assert second.assignment.topic_partitions == []
    assert len(second.target_assignment.topic_partitions[0].partitions) == 3
    assert shard.machine.describe_consumer("none").error_code == ErrorCode.GROUP_ID_NOT_FOUND
