"""Members that keep their place while they are restarted (KIP-345)."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.wire.messages.join_group import JoinGroupResponse
from tests.support.coordinator.group_shard import REBALANCE_MS, GroupShard


@pytest.fixture
def shard() -> GroupShard:
    return GroupShard()


def static_pair(shard: GroupShard) -> tuple[JoinGroupResponse, JoinGroupResponse]:
    joins = [shard.join(instance_id=name) for name in ("a", "b")]
    shard.clock.advance(0)
    first, second = (join.value for join in joins)
    shard.sync(second, instance_id="b")
    shard.sync(first, {first.member_id: b"0", second.member_id: b"1"}, instance_id="a")
    assert shard.state == "Stable"
    return first, second


def test_a_static_member_needs_no_id_to_join(shard: GroupShard) -> None:
    join = shard.join(instance_id="a")
    shard.clock.advance(0)
    assert join.value.member_id.startswith("a-")


def test_a_restarted_instance_takes_its_place_without_a_rebalance(shard: GroupShard) -> None:
    first, second = static_pair(shard)
    again = shard.join(instance_id="b").value
    assert (again.error_code, again.generation_id) == (0, 1)
    assert again.member_id not in (first.member_id, second.member_id)
    assert shard.sync(again, instance_id="b").value.assignment == b"1"
    assert shard.state == "Stable"
    assert shard.heartbeat(second.member_id, 1, instance_id="b") == ErrorCode.FENCED_INSTANCE_ID


def test_a_restarted_leader_is_to_assign_nothing(shard: GroupShard) -> None:
    static_pair(shard)
    again = shard.join(instance_id="a").value
    assert again.leader == again.member_id
    assert again.skip_assignment
    assert len(again.members) == 2


def test_an_old_client_that_led_does_not_learn_that_it_leads(shard: GroupShard) -> None:
    first, _ = static_pair(shard)
    again = shard.join(instance_id="a", version=8).value
    assert again.leader == first.member_id != again.member_id
    assert again.members == []


def test_the_next_coordinator_knows_the_new_id(shard: GroupShard) -> None:
    static_pair(shard)
    again = shard.join(instance_id="b").value
    shard = shard.failover()
    assert shard.heartbeat(again.member_id, 1, instance_id="b") == ErrorCode.NONE


def test_a_restart_with_another_protocol_makes_the_group_rebalance(shard: GroupShard) -> None:
    shard.join(instance_id="a", protocols={"range": b"", "sticky": b""})
    shard.join(instance_id="b", protocols={"range": b"", "sticky": b""})
    shard.clock.advance(0)
    group = shard.machine.groups.get_classic("group")
    assert group is not None
    leader = shard.join(group.leader or "", protocols={"range": b"", "sticky": b""}).value
    shard.sync(leader, {})
    assert shard.state == "Stable"
    assert not shard.join(instance_id="b", protocols={"sticky": b""}).is_there
    assert shard.state == "PreparingRebalance"


def test_one_of_two_with_the_same_instance_is_fenced(shard: GroupShard) -> None:
    _, second = static_pair(shard)
    shard.join(instance_id="b")
    fenced = shard.join(second.member_id, instance_id="b")
    assert fenced.error == ErrorCode.FENCED_INSTANCE_ID


def test_a_join_that_waits_is_fenced_by_the_next_instance(shard: GroupShard) -> None:
    static_pair(shard)
    shard.join(shard.new_member_id())
    waiting = shard.join(instance_id="a")
    again = shard.join(instance_id="a")
    assert waiting.error == ErrorCode.FENCED_INSTANCE_ID
    assert not again.is_there


def test_static_members_are_not_left_behind_by_a_rebalance(shard: GroupShard) -> None:
    joins = [shard.join(instance_id=name, session_timeout_ms=300_000) for name in ("a", "b")]
    shard.clock.advance(0)
    first, second = (join.value for join in joins)
    shard.sync(second, instance_id="b")
    shard.sync(first, {}, instance_id="a")
    again = shard.join(first.member_id, instance_id="a")
    shard.clock.advance(REBALANCE_MS / 1_000)
    assert again.value.generation_id == 2
    assert len(again.value.members) == 2


def test_an_admin_removes_a_static_member_by_its_instance(shard: GroupShard) -> None:
    static_pair(shard)
    (answer,) = shard.leave(instance_id="b").value.members
    assert answer.error_code == 0
    assert shard.state == "PreparingRebalance"
    (answer,) = shard.leave(instance_id="b").value.members
    assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID
