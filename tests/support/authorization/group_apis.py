"""What requests of groups and about groups need."""

from __future__ import annotations

from typing import Final

from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation
from ottla.wire.apis import ApiKey
from ottla.wire.messages import (
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    describe_groups,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
)
from ottla.wire.schema import Message
from tests.support.authorization.authorized_api import (
    GROUP,
    TOPIC,
    AuthorizedApi,
    on_cluster,
    on_group,
    on_topic,
)
from tests.support.authorization.data_apis import topic_id
from tests.support.nodes.one_node import OneNode

READ, DELETE, DESCRIBE = AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE
PARTITIONS: Final = "topics.partitions.error_code"
GROUPS: Final = "groups.error_code"
COORDINATORS: Final = "coordinators.error_code"
OFFSETS: Final = "groups.topics.partitions.error_code"


def find(key_type: int, key: str = GROUP) -> Message:
    return find_coordinator.FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])


def commit_offset(node: OneNode) -> offset_commit.OffsetCommitRequest:
    partition = offset_commit.OffsetCommitRequestPartition(committed_offset=1)
    topic = offset_commit.OffsetCommitRequestTopic(
        name=TOPIC, topic_id=topic_id(node), partitions=[partition]
    )
    return offset_commit.OffsetCommitRequest(group_id=GROUP, topics=[topic])


def _fetch_offsets(node: OneNode) -> Message:
    topic = offset_fetch.OffsetFetchRequestTopics(
        name=TOPIC, topic_id=topic_id(node), partition_indexes=[0]
    )
    group = offset_fetch.OffsetFetchRequestGroup(group_id=GROUP, topics=[topic])
    return offset_fetch.OffsetFetchRequest(groups=[group])


def _fetch_offsets_of_one(_node: OneNode) -> Message:
    topic = offset_fetch.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])
    return offset_fetch.OffsetFetchRequest(group_id=GROUP, topics=[topic])


def _delete_offsets(_node: OneNode) -> Message:
    topic = offset_delete.OffsetDeleteRequestTopic(
        name=TOPIC, partitions=[offset_delete.OffsetDeleteRequestPartition()]
    )
    return offset_delete.OffsetDeleteRequest(group_id=GROUP, topics=[topic])


def _join(_node: OneNode) -> Message:
    protocol = join_group.JoinGroupRequestProtocol(name="range", metadata=b"")
    return join_group.JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[protocol],
    )


def _heartbeat(_node: OneNode) -> Message:
    return heartbeat.HeartbeatRequest(group_id=GROUP, member_id="somebody")


def _leave(_node: OneNode) -> Message:
    member = leave_group.MemberIdentity(member_id="somebody")
    return leave_group.LeaveGroupRequest(group_id=GROUP, members=[member])


def _leave_alone(_node: OneNode) -> Message:
    return leave_group.LeaveGroupRequest(group_id=GROUP, member_id="somebody")


def _sync(_node: OneNode) -> Message:
    return sync_group.SyncGroupRequest(
        group_id=GROUP, member_id="somebody", protocol_type="consumer", protocol_name="range"
    )


def consumer_heartbeat(_node: OneNode) -> Message:
    return consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
        group_id=GROUP,
        member_id="member",
        rebalance_timeout_ms=10_000,
        subscribed_topic_names=[TOPIC],
        topic_partitions=[],
    )


def _delete_groups(_node: OneNode) -> Message:
    return delete_groups.DeleteGroupsRequest(groups_names=[GROUP])


def _describe_groups(_node: OneNode) -> Message:
    return describe_groups.DescribeGroupsRequest(groups=[GROUP])


def _describe_consumer_groups(_node: OneNode) -> Message:
    return consumer_group_describe.ConsumerGroupDescribeRequest(group_ids=[GROUP])


def become_consumer_group(node: OneNode) -> None:
    response = node.send_request(consumer_heartbeat(node), 1)
    assert response.error_code == 0


GROUP_APIS: Final = (
    AuthorizedApi(
        ApiKey.OFFSET_COMMIT,
        commit_offset,
        (on_group(READ, PARTITIONS), on_topic(READ, PARTITIONS)),
    ),
    AuthorizedApi(
        ApiKey.OFFSET_COMMIT,
        commit_offset,
        (on_group(READ, PARTITIONS), on_topic(READ, PARTITIONS)),
        name="by name",
        version=9,
    ),
    AuthorizedApi(
        ApiKey.OFFSET_FETCH,
        _fetch_offsets,
        (on_group(DESCRIBE, GROUPS), on_topic(DESCRIBE, OFFSETS)),
    ),
    AuthorizedApi(
        ApiKey.OFFSET_FETCH,
        _fetch_offsets,
        (on_group(DESCRIBE, GROUPS), on_topic(DESCRIBE, OFFSETS)),
        name="by name",
        version=8,
    ),
    AuthorizedApi(
        ApiKey.OFFSET_FETCH,
        _fetch_offsets_of_one,
        (on_group(DESCRIBE), on_topic(DESCRIBE, PARTITIONS)),
        name="of one group",
        version=7,
    ),
    AuthorizedApi(
        ApiKey.OFFSET_FETCH,
        _fetch_offsets_of_one,
        (on_group(DESCRIBE, PARTITIONS), on_topic(DESCRIBE, PARTITIONS)),
        name="without an error of the group",
        version=1,
    ),
    AuthorizedApi(
        ApiKey.OFFSET_DELETE, _delete_offsets, (on_group(DELETE), on_topic(READ, PARTITIONS))
    ),
    AuthorizedApi(
        ApiKey.FIND_COORDINATOR, lambda _node: find(0), (on_group(DESCRIBE, COORDINATORS),)
    ),
    AuthorizedApi(
        ApiKey.FIND_COORDINATOR,
        lambda _node: find(2, f"{GROUP}:AAAAAAAAAAAAAAAAAAAAAA:0"),
        (on_cluster(AclOperation.CLUSTER_ACTION, COORDINATORS),),
        name="of a share group",
        served=frozenset({ErrorCode.NONE}),
    ),
    AuthorizedApi(
        ApiKey.FIND_COORDINATOR,
        lambda _node: find_coordinator.FindCoordinatorRequest(key=GROUP),
        (on_group(DESCRIBE),),
        name="of one group",
        version=3,
    ),
    AuthorizedApi(
        ApiKey.JOIN_GROUP,
        _join,
        (on_group(READ),),
        served=frozenset({ErrorCode.MEMBER_ID_REQUIRED}),
    ),
    AuthorizedApi(
        ApiKey.HEARTBEAT,
        _heartbeat,
        (on_group(READ),),
        served=frozenset({ErrorCode.UNKNOWN_MEMBER_ID}),
    ),
    AuthorizedApi(
        ApiKey.LEAVE_GROUP,
        _leave,
        (on_group(READ),),
        served=frozenset({ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID}),
    ),
    AuthorizedApi(
        ApiKey.LEAVE_GROUP,
        _leave_alone,
        (on_group(READ),),
        name="alone",
        version=2,
        served=frozenset({ErrorCode.UNKNOWN_MEMBER_ID}),
    ),
    AuthorizedApi(
        ApiKey.SYNC_GROUP,
        _sync,
        (on_group(READ),),
        served=frozenset({ErrorCode.UNKNOWN_MEMBER_ID}),
    ),
    AuthorizedApi(ApiKey.DELETE_GROUPS, _delete_groups, (on_group(DELETE, "results.error_code"),)),
    AuthorizedApi(ApiKey.DESCRIBE_GROUPS, _describe_groups, (on_group(DESCRIBE, GROUPS),)),
    AuthorizedApi(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        consumer_heartbeat,
        (on_group(READ), on_topic(DESCRIBE)),
    ),
    AuthorizedApi(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        _describe_consumer_groups,
        (on_group(DESCRIBE, GROUPS), on_topic(DESCRIBE, GROUPS)),
        prepare=become_consumer_group,
    ),
)
