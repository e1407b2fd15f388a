"""The APIs of groups, through their bytes in every version."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.delete_groups import DeleteGroupsRequest
from ottla.wire.messages.describe_groups import DescribeGroupsRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.sync_group import SyncGroupRequest
from tests.support.nodes.one_node import OneNode, StartNode

GROUPS = ["one", "two", "three"]


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    """A node with three simple groups."""
    node = start_node(configs={"offsets.topic.num.partitions": "3"})
    node.create_topic("t")
    node.send_request(FindCoordinatorRequest(coordinator_keys=GROUPS), 6)
    for group_id in GROUPS:
        partition = OffsetCommitRequestPartition(committed_offset=1)
        topic = OffsetCommitRequestTopic(name="t", partitions=[partition])
        node.send_request(OffsetCommitRequest(group_id=group_id, topics=[topic]), 9)
    return node


@pytest.mark.parametrize("version", range(6))
def test_groups_of_all_partitions_are_listed(node: OneNode, version: int) -> None:
    response = node.send_request(ListGroupsRequest(), version)
    assert sorted(group.group_id for group in response.groups) == sorted(GROUPS)
    if version >= 5:
        assert {(each.group_state, each.group_type) for each in response.groups} == {
            ("Empty", "Classic")
        }


@pytest.mark.parametrize(
    ("states", "types", "count"),
    [(["empty"], [], 3), (["Stable"], [], 0), ([], ["CLASSIC"], 3), ([], ["consumer"], 0)],
)
def test_lists_are_filtered_in_any_case_of_letters(
    node: OneNode, states: list[str], types: list[str], count: int
) -> None:
    response = node.send_request(ListGroupsRequest(states_filter=states, types_filter=types), 5)
    assert len(response.groups) == count


@pytest.mark.parametrize("version", range(7))
def test_groups_are_described_in_the_requested_order(node: OneNode, version: int) -> None:
    requested = ["two", "none", "one"]
    response = node.send_request(DescribeGroupsRequest(groups=requested), version)
    assert [group.group_id for group in response.groups] == requested
    two, none, _ = response.groups
    assert (two.error_code, two.group_state) == (0, "Empty")
    assert none.group_state == "Dead"
    assert none.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else 0)


@pytest.mark.parametrize("version", range(3))
def test_groups_are_deleted_one_by_one(node: OneNode, version: int) -> None:
    response = node.send_request(DeleteGroupsRequest(groups_names=["one", "none", "two"]), version)
    assert [(each.group_id, each.error_code) for each in response.results] == [
        ("one", 0),
        ("none", ErrorCode.GROUP_ID_NOT_FOUND),
        ("two", 0),
    ]
    assert [group.group_id for group in node.send_request(ListGroupsRequest(), 5).groups] == [
        "three"
    ]


@pytest.mark.parametrize("version", range(4, 10))
def test_a_member_is_given_an_id(node: OneNode, version: int) -> None:
    request = JoinGroupRequest(
        group_id="one",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range")],
    )
    response = node.send_request(request, version)
    assert response.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert response.member_id.startswith("test-")


def test_requests_about_groups_without_a_name_are_refused(node: OneNode) -> None:
    for request, version in (
        (JoinGroupRequest(), 9),
        (SyncGroupRequest(), 4),
        (HeartbeatRequest(), 4),
        (LeaveGroupRequest(), 5),
    ):
        assert node.send_request(request, version).error_code == ErrorCode.INVALID_GROUP_ID


def test_a_sync_has_to_name_its_protocol(node: OneNode) -> None:
    response = node.send_request(SyncGroupRequest(group_id="one"), 5)
    assert response.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("version", range(5))
def test_heartbeats_of_strangers_are_refused(node: OneNode, version: int) -> None:
    response = node.send_request(HeartbeatRequest(group_id="one", member_id="m"), version)
    assert response.error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", range(6))
def test_strangers_cannot_leave(node: OneNode, version: int) -> None:
    request = LeaveGroupRequest(
        group_id="one", member_id="m", members=[MemberIdentity(member_id="m")]
    )
    response = node.send_request(request, version)
    if version < 3:
        assert response.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    else:
        (answer,) = response.members
        assert (response.error_code, answer.error_code) == (0, ErrorCode.UNKNOWN_MEMBER_ID)


@pytest.mark.parametrize("version", [0, 1])
def test_a_consumer_joins_and_is_described(node: OneNode, version: int) -> None:
    request = ConsumerGroupHeartbeatRequest(
        group_id="new",
        member_id="member" if version else "",
        rebalance_timeout_ms=10_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    joined = node.send_request(request, version)
    assert (joined.error_code, joined.member_epoch) == (0, 1)
    assert joined.assignment.topic_partitions[0].partitions == [0]

    requested = ConsumerGroupDescribeRequest(group_ids=["new", "one", ""])
    new, classic, nameless = node.send_request(requested, version).groups
    assert (new.group_state, new.members[0].member_id) == ("Stable", joined.member_id)
    assert new.members[0].assignment.topic_partitions[0].topic_name == "t"
    assert classic.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert nameless.error_code == ErrorCode.INVALID_GROUP_ID
