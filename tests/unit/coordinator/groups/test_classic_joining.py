"""Entering classic groups."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from tests.support.coordinator.group_shard import GROUP, REBALANCE_MS, SESSION_MS, GroupShard


@pytest.fixture
def shard() -> GroupShard:
    return GroupShard()


def test_new_member_is_given_an_id_to_join_with(shard: GroupShard) -> None:
    refused = shard.join()
    assert refused.error == ErrorCode.MEMBER_ID_REQUIRED
    assert refused.value.member_id.startswith("client-")
    assert len(refused.value.member_id) == len("client-") + 36


@pytest.mark.parametrize("version", range(4))
def test_old_clients_join_without_an_id(shard: GroupShard, version: int) -> None:
    join = shard.join(version=version)
    shard.clock.advance(0)
    assert join.error == ErrorCode.NONE
    assert join.value.leader == join.value.member_id


def test_an_id_that_was_not_allocated_is_unknown(shard: GroupShard) -> None:
    assert shard.join("stranger").error == ErrorCode.UNKNOWN_MEMBER_ID
    shard.stable()
    assert shard.join("stranger").error == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_id_that_is_not_used_is_taken_back(shard: GroupShard) -> None:
    member_id = shard.new_member_id()
    shard.clock.advance(SESSION_MS / 1_000)
    assert shard.join(member_id).error == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("timeout_ms", [5_999, 1_800_001])
def test_session_timeouts_have_limits(shard: GroupShard, timeout_ms: int) -> None:
    join = shard.join(session_timeout_ms=timeout_ms)
    assert join.error == ErrorCode.INVALID_SESSION_TIMEOUT


def test_members_that_start_together_are_in_one_generation() -> None:
    shard = GroupShard(configs={"group.initial.rebalance.delay.ms": "3000"})
    first = shard.join(version=3)
    shard.clock.advance(2)
    second = shard.join(version=3)
    shard.clock.advance(2.9)
    assert not first.is_there, "a member joined less than a delay ago"
    shard.clock.advance(0.1)
    assert first.value.generation_id == second.value.generation_id == 1
    assert len(first.value.members) == 2
    assert second.value.members == []


def test_the_initial_delay_ends_with_the_rebalance_timeout() -> None:
    shard = GroupShard(configs={"group.initial.rebalance.delay.ms": "3000"})
    first = shard.join(version=3)
    for _ in range(REBALANCE_MS // 1_000):
        assert not first.is_there
        shard.join(version=3)
        shard.clock.advance(1)
    assert first.is_there


def test_all_members_agree_on_the_protocol_that_most_want(shard: GroupShard) -> None:
    joins = [
        shard.join(version=3, protocols=dict.fromkeys(names, b""))
        for names in (("a", "b", "c"), ("b", "a"), ("b", "c", "a"))
    ]
    shard.clock.advance(0)
    assert {join.value.protocol_name for join in joins} == {"b"}


@pytest.mark.parametrize(
    ("protocol_type", "protocol"), [("connect", "range"), ("consumer", "sticky"), ("", "range")]
)
def test_a_member_that_cannot_agree_is_refused(
    shard: GroupShard, protocol_type: str, protocol: str
) -> None:
    shard.stable()
    join = shard.join(protocol_type=protocol_type, protocols={protocol: b""})
    assert join.error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_group_has_a_largest_size() -> None:
    shard = GroupShard(configs={"group.max.size": "2"})
    members = shard.stable(2)
    assert shard.join().error == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert not shard.join(members[0].member_id).is_there, "who is in it may join again"


def test_a_group_that_is_too_large_after_a_failover_rebalances() -> None:
    shard = GroupShard()
    members = shard.stable(3)
    shard.shard.close()
    next_shard = GroupShard(shard.log, clock=shard.clock, configs={"group.max.size": "2"})
    assert next_shard.state == "PreparingRebalance"
    joins = [next_shard.join(member.member_id) for member in members]
    assert [join.is_there and join.error for join in joins] == [
        False,
        False,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
    ]


def test_a_member_that_joins_a_stable_group_makes_it_rebalance(shard: GroupShard) -> None:
    (leader,) = shard.stable()
    join = shard.join(shard.new_member_id())
    assert not join.is_there
    assert shard.heartbeat(leader.member_id, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    again = shard.join(leader.member_id)
    assert join.value.generation_id == again.value.generation_id == 2
    assert again.value.leader == leader.member_id
    assert {member.member_id for member in again.value.members} == {
        leader.member_id,
        join.value.member_id,
    }


def test_members_that_do_not_join_in_time_are_left_behind(shard: GroupShard) -> None:
    leader, follower = shard.stable(2)
    join = shard.join(shard.new_member_id())
    again = shard.join(follower.member_id)
    seconds = 0
    while seconds < REBALANCE_MS / 1_000:
        assert not join.is_there
        # Heartbeats alone do not keep its place.
        assert shard.heartbeat(leader.member_id, 1) == ErrorCode.REBALANCE_IN_PROGRESS
        shard.clock.advance(5)
        seconds += 5
    assert again.value.leader == follower.member_id, "who joined leads instead"
    assert join.value.generation_id == 2
    assert shard.heartbeat(leader.member_id, 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_follower_that_joins_again_unchanged_changes_nothing(shard: GroupShard) -> None:
    _, follower = shard.stable(2)
    join = shard.join(follower.member_id)
    assert (join.value.generation_id, join.value.members) == (1, [])
    assert shard.state == "Stable"


def test_a_leader_that_joins_again_has_everything_assigned_anew(shard: GroupShard) -> None:
    leader, _ = shard.stable(2)
    assert not shard.join(leader.member_id).is_there
    assert shard.state == "PreparingRebalance"


def test_a_member_with_another_subscription_makes_the_group_rebalance(shard: GroupShard) -> None:
    _, follower = shard.stable(2)
    assert not shard.join(follower.member_id, protocols={"range": b"more"}).is_there
    assert shard.state == "PreparingRebalance"


def test_an_answer_that_got_lost_is_given_again(shard: GroupShard) -> None:
    joins = [shard.join(shard.new_member_id()) for _ in range(2)]
    shard.clock.advance(0)
    for join in joins:
        again = shard.join(join.value.member_id)
        assert again.value == join.value


def test_member_that_joins_twice_is_answered_on_its_last_request(shard: GroupShard) -> None:
    (leader,) = shard.stable()
    member_id = shard.new_member_id()
    gone, again = shard.join(member_id), shard.join(member_id)
    shard.join(leader.member_id)
    assert not gone.is_there
    assert again.value.generation_id == 2


def test_a_group_that_is_joined_is_there_for_the_next_coordinator(shard: GroupShard) -> None:
    shard.new_member_id()
    assert shard.failover().machine.groups.get(GROUP) is not None


def test_waiting_requests_fail_when_the_coordinator_moves(shard: GroupShard) -> None:
    join = shard.join(shard.new_member_id())
    shard.failover()
    assert join.error == ErrorCode.NOT_COORDINATOR
