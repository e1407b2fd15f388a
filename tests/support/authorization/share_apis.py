"""The requests of share groups and of their coordinators."""

from __future__ import annotations

from typing import Any, Final

from ottla.security.acls.acl import AclOperation
from ottla.shares.share_key import ShareKey
from ottla.wire.apis import ApiKey
from ottla.wire.messages import (
    alter_share_group_offsets,
    delete_groups,
    delete_share_group_offsets,
    delete_share_group_state,
    describe_share_group_offsets,
    find_coordinator,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    share_acknowledge,
    share_fetch,
    share_group_describe,
    share_group_heartbeat,
    write_share_group_state,
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
from tests.support.nodes.one_node import OneNode

READ, DESCRIBE, DELETE = AclOperation.READ, AclOperation.DESCRIBE, AclOperation.DELETE
MEMBER = "member"
PARTITIONS = "responses.partitions.error_code"


def topic_id(node: OneNode) -> Any:
    return node.image.topics.by_name[TOPIC].id


def create_states(node: OneNode) -> None:
    """Creates the topic of share coordinators, and deletes the consumer group of that name."""
    node.send_request(delete_groups.DeleteGroupsRequest(groups_names=[GROUP]), 2)
    key = ShareKey(GROUP, topic_id(node), 0).text
    request = find_coordinator.FindCoordinatorRequest(key_type=2, coordinator_keys=[key])
    node.send_request(request, 6)


def heartbeat(_node: OneNode) -> Message:
    return share_group_heartbeat.ShareGroupHeartbeatRequest(
        group_id=GROUP, member_id=MEMBER, subscribed_topic_names=[TOPIC]
    )


def become_share_group(node: OneNode) -> None:
    create_states(node)
    assert not node.send_request(heartbeat(node), 1).error_code


def become_empty_share_group(node: OneNode) -> None:
    become_share_group(node)
    request = share_group_heartbeat.ShareGroupHeartbeatRequest(
        group_id=GROUP, member_id=MEMBER, member_epoch=-1
    )
    assert not node.send_request(request, 1).error_code


def fetch(node: OneNode) -> Message:
    partition = share_fetch.FetchPartition(partition_index=0)
    return share_fetch.ShareFetchRequest(
        group_id=GROUP,
        member_id=MEMBER,
        max_records=1,
        batch_size=1,
        topics=[share_fetch.FetchTopic(topic_id=topic_id(node), partitions=[partition])],
    )


def begin_session(node: OneNode) -> None:
    become_share_group(node)
    node.send_request(fetch(node), 2)


def _acknowledge(node: OneNode) -> Message:
    batch = share_acknowledge.AcknowledgementBatch(
        first_offset=0, last_offset=0, acknowledge_types=[1]
    )
    partition = share_acknowledge.AcknowledgePartition(
        partition_index=0, acknowledgement_batches=[batch]
    )
    return share_acknowledge.ShareAcknowledgeRequest(
        group_id=GROUP,
        member_id=MEMBER,
        share_session_epoch=1,
        topics=[
            share_acknowledge.AcknowledgeTopic(topic_id=topic_id(node), partitions=[partition])
        ],
    )


def _describe(_node: OneNode) -> Message:
    return share_group_describe.ShareGroupDescribeRequest(group_ids=[GROUP])


def _describe_offsets(_node: OneNode) -> Message:
    topic = describe_share_group_offsets.DescribeShareGroupOffsetsRequestTopic(
        topic_name=TOPIC, partitions=[0]
    )
    group = describe_share_group_offsets.DescribeShareGroupOffsetsRequestGroup(
        group_id=GROUP, topics=[topic]
    )
    return describe_share_group_offsets.DescribeShareGroupOffsetsRequest(groups=[group])


def _alter_offsets(_node: OneNode) -> Message:
    partition = alter_share_group_offsets.AlterShareGroupOffsetsRequestPartition(partition_index=0)
    topic = alter_share_group_offsets.AlterShareGroupOffsetsRequestTopic(
        topic_name=TOPIC, partitions=[partition]
    )
    return alter_share_group_offsets.AlterShareGroupOffsetsRequest(group_id=GROUP, topics=[topic])


def _delete_offsets(_node: OneNode) -> Message:
    topic = delete_share_group_offsets.DeleteShareGroupOffsetsRequestTopic(topic_name=TOPIC)
    return delete_share_group_offsets.DeleteShareGroupOffsetsRequest(group_id=GROUP, topics=[topic])


def _state(module: Any, kind: str, data: str) -> Any:
    """A request to a share coordinator."""

    def request(node: OneNode) -> Message:
        topic = getattr(module, data)(
            topic_id=topic_id(node), partitions=[module.PartitionData(partition=0)]
        )
        made: Message = getattr(module, f"{kind}Request")(group_id=GROUP, topics=[topic])
        return made

    return request


_STATES: Final = (
    (initialize_share_group_state, "InitializeShareGroupState", "InitializeStateData"),
    (read_share_group_state, "ReadShareGroupState", "ReadStateData"),
    (write_share_group_state, "WriteShareGroupState", "WriteStateData"),
    (delete_share_group_state, "DeleteShareGroupState", "DeleteStateData"),
    (read_share_group_state_summary, "ReadShareGroupStateSummary", "ReadStateSummaryData"),
)
SHARE_APIS: Final = (
    AuthorizedApi(
        ApiKey.SHARE_GROUP_HEARTBEAT,
        heartbeat,
        (on_group(READ), on_topic(DESCRIBE)),
        prepare=create_states,
    ),
    AuthorizedApi(
        ApiKey.SHARE_GROUP_DESCRIBE,
        _describe,
        (on_group(DESCRIBE, "groups.error_code"), on_topic(DESCRIBE, "groups.error_code")),
        prepare=become_share_group,
    ),
    AuthorizedApi(
        ApiKey.SHARE_FETCH,
        fetch,
        (on_group(READ), on_topic(READ, PARTITIONS)),
        prepare=become_share_group,
    ),
    AuthorizedApi(
        ApiKey.SHARE_ACKNOWLEDGE,
        _acknowledge,
        (on_group(READ), on_topic(READ, PARTITIONS)),
        served=None,
        prepare=begin_session,
    ),
    *(
        AuthorizedApi(
            ApiKey[module.__name__.rpartition(".")[2].upper()],
            _state(module, kind, data),
            (on_cluster(AclOperation.CLUSTER_ACTION, "results.partitions.error_code"),),
            served=None,
            prepare=create_states,
        )
        for module, kind, data in _STATES
    ),
    AuthorizedApi(
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        _describe_offsets,
        (
            on_group(DESCRIBE, "groups.error_code"),
            on_topic(DESCRIBE, "groups.topics.partitions.error_code"),
        ),
        prepare=create_states,
    ),
    AuthorizedApi(
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        _alter_offsets,
        (on_group(READ), on_topic(READ, PARTITIONS)),
        prepare=become_empty_share_group,
    ),
    AuthorizedApi(
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
        _delete_offsets,
        (on_group(DELETE), on_topic(READ, "responses.error_code")),
        prepare=become_empty_share_group,
    ),
)
