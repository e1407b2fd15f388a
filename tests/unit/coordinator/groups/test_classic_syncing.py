"""Assignments of classic groups, heartbeats, and members that go."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from tests.support.coordinator.group_shard import REBALANCE_MS, SESSION_MS, GroupShard


@pytest.fixture
def shard() -> GroupShard:
    return GroupShard()


def test_assignments_are_given_out_once_they_are_committed(shard: GroupShard) -> None:
    joins = [shard.join(shard.new_member_id()) for _ in range(2)]
    shard.clock.advance(0)
    leader, follower = (join.value for join in joins)
    waiting = shard.sync(follower)
    shard.log.is_held = True
    synced = shard.sync(leader, {follower.member_id: b"all"})
    assert not waiting.is_there
    assert not synced.is_there
    shard.log.commit()
    assert waiting.value.assignment == b"all"
    assert synced.value.assignment == b"", "whom the leader forgot has nothing"
    assert shard.state == "Stable"


def test_assignments_that_cannot_be_stored_are_refused(shard: GroupShard) -> None:
    join = shard.join(shard.new_member_id())
    shard.clock.advance(0)
    shard.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
    synced = shard.sync(join.value, {})
    assert synced.error == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert shard.state == "PreparingRebalance"


def test_assignments_survive_a_failover(shard: GroupShard) -> None:
    members = shard.stable(2)
    shard = shard.failover()
    assert shard.state == "Stable"
    for index, member in enumerate(members):
        assert shard.heartbeat(member.member_id, 1) == ErrorCode.NONE
        assert shard.sync(member).value.assignment == b"%d" % index


def test_only_members_of_the_generation_are_given_assignments(shard: GroupShard) -> None:
    (member,) = shard.stable()
    member.generation_id += 1
    assert shard.sync(member).error == ErrorCode.ILLEGAL_GENERATION
    member.member_id = "stranger"
    assert shard.sync(member).error == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_sync_during_a_rebalance_fails_with_rebalance_in_progress(shard: GroupShard) -> None:
    (member,) = shard.stable()
    shard.join(shard.new_member_id())
    assert shard.sync(member).error == ErrorCode.REBALANCE_IN_PROGRESS


def test_waiting_syncs_fail_at_the_next_rebalance(shard: GroupShard) -> None:
    joins = [shard.join(shard.new_member_id()) for _ in range(2)]
    shard.clock.advance(0)
    waiting = shard.sync(joins[1].value)
    shard.join(shard.new_member_id())
    assert waiting.error == ErrorCode.REBALANCE_IN_PROGRESS


def test_members_that_never_request_their_assignment_are_removed(shard: GroupShard) -> None:
    joins = [shard.join(shard.new_member_id(), session_timeout_ms=300_000) for _ in range(2)]
    shard.clock.advance(0)
    leader, follower = (join.value for join in joins)
    shard.sync(leader, {})
    shard.clock.advance(REBALANCE_MS / 1_000)
    assert shard.heartbeat(follower.member_id, 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert shard.heartbeat(leader.member_id, 1) == ErrorCode.REBALANCE_IN_PROGRESS


def test_heartbeats_keep_a_session(shard: GroupShard) -> None:
    (member,) = shard.stable()
    for _ in range(5):
        shard.clock.advance(SESSION_MS / 1_000 - 1)
        assert shard.heartbeat(member.member_id, 1) == ErrorCode.NONE
    shard.clock.advance(SESSION_MS / 1_000)
    assert shard.heartbeat(member.member_id, 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert shard.state == "Empty"


def test_heartbeats_of_another_generation_are_refused(shard: GroupShard) -> None:
    (member,) = shard.stable()
    assert shard.heartbeat(member.member_id, 0) == ErrorCode.ILLEGAL_GENERATION
    assert shard.heartbeat("stranger", 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_sessions_go_on_after_a_failover(shard: GroupShard) -> None:
    (member,) = shard.stable()
    shard.clock.advance(SESSION_MS / 1_000 - 1)
    shard = shard.failover()
    shard.clock.advance(SESSION_MS / 1_000 - 1)
    assert shard.heartbeat(member.member_id, 1) == ErrorCode.NONE
    shard.clock.advance(SESSION_MS / 1_000)
    assert shard.state == "Empty"


def test_who_waits_for_others_does_not_lose_its_session(shard: GroupShard) -> None:
    leader, follower = shard.stable(2)
    waiting = shard.join(leader.member_id)
    for _ in range(3):
        shard.clock.advance(SESSION_MS / 1_000 - 1)
        shard.heartbeat(follower.member_id, 1)
    again = shard.join(follower.member_id)
    assert waiting.value.generation_id == again.value.generation_id == 2


def test_a_member_that_leaves_makes_the_rest_rebalance(shard: GroupShard) -> None:
    leader, follower = shard.stable(2)
    assert shard.leave(leader.member_id).value.members[0].error_code == 0
    assert shard.heartbeat(follower.member_id, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    assert shard.join(follower.member_id).value.leader == follower.member_id


def test_the_last_member_leaves_an_empty_group(shard: GroupShard) -> None:
    (member,) = shard.stable()
    shard.leave(member.member_id)
    assert shard.state == "Empty"
    shard = shard.failover()
    assert shard.state == "Empty"
    assert shard.machine.groups.require("group").protocol_type == "consumer"


def test_who_is_no_member_cannot_leave(shard: GroupShard) -> None:
    assert shard.leave("stranger").error == ErrorCode.UNKNOWN_MEMBER_ID
    shard.stable()
    (answer,) = shard.leave("stranger").value.members
    assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_waits_can_leave(shard: GroupShard) -> None:
    leader, follower = shard.stable(2)
    waiting = shard.join(leader.member_id)
    shard.leave(leader.member_id)
    assert waiting.error == ErrorCode.UNKNOWN_MEMBER_ID
    assert shard.join(follower.member_id).value.generation_id == 2
