"""Responses leave out what a client may not see, and say which operations it may do."""

from __future__ import annotations

import pytest

from ottla.broker.administration.authorized_operations import (
    CLUSTER_OPERATIONS,
    NOT_REQUESTED,
    TOPIC_OPERATIONS,
)
from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.principal import Principal
from ottla.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.describe_groups import DescribeGroupsRequest
from ottla.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from ottla.wire.messages.describe_transactions import DescribeTransactionsRequest
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.support.authorization.authorized_api import (
    GROUP,
    TOPIC,
    TRANSACTIONAL_ID,
    Allowed,
    cluster,
)
from tests.support.authorization.authorized_node import (
    allow,
    allowing,
    rights_of,
    start_authorized_node,
)
from tests.support.authorization.group_apis import become_consumer_group
from tests.support.authorization.transaction_apis import begin_transaction
from tests.support.nodes.one_node import OneNode, StartNode

SECRET = "secret"
DESCRIBE = AclOperation.DESCRIBE
DESCRIBE_TOPIC: Allowed = (DESCRIBE, ResourceType.TOPIC, TOPIC)
DESCRIBE_GROUP: Allowed = (DESCRIBE, ResourceType.GROUP, GROUP)
DESCRIBE_ID: Allowed = (DESCRIBE, ResourceType.TRANSACTIONAL_ID, TRANSACTIONAL_ID)


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    """With a topic that the client never may describe."""
    node = start_authorized_node(start_node)
    node.create_topic(SECRET)
    return node


def bits(*operations: AclOperation) -> int:
    return sum(1 << operation for operation in operations)


# ---- topics


@pytest.mark.parametrize("version", [0, 1, 9, 13])
def test_metadata_of_all_topics_has_those_that_may_be_described(
    node: OneNode, version: int
) -> None:
    request = MetadataRequest(topics=None if version else [])
    assert node.send_request(request, version, rights=rights_of(node)).topics == []
    allow(node, *allowing(DESCRIBE_TOPIC))
    response = node.send_request(request, version, rights=rights_of(node))
    assert [topic.name for topic in response.topics] == [TOPIC]
    assert response.brokers


def test_metadata_does_not_reveal_which_topics_exist(node: OneNode) -> None:
    names = [SECRET, "unknown"]
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    response = node.send_request(request, 13, rights=rights_of(node))
    returned = [(each.name, each.error_code, each.partitions) for each in response.topics]
    assert returned == [(name, ErrorCode.TOPIC_AUTHORIZATION_FAILED, []) for name in names]
    assert len({each.topic_id for each in response.topics}) == 1
    assert "unknown" not in node.image.topics.by_name


def test_metadata_by_id_hides_the_name(node: OneNode) -> None:
    topic_id = node.image.topics.by_name[SECRET].id
    request = MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=topic_id)])
    (topic,) = node.send_request(request, 13, rights=rights_of(node)).topics
    assert (topic.name, topic.topic_id) == (None, topic_id)
    assert topic.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_topics_of_one_request_are_refused_one_by_one(node: OneNode) -> None:
    allow(node, *allowing(DESCRIBE_TOPIC))
    names = [TOPIC, SECRET]
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    response = node.send_request(request, 13, rights=rights_of(node))
    assert [each.error_code for each in response.topics] == [
        ErrorCode.NONE,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ]
    assert [len(each.partitions) for each in response.topics] == [2, 0]


def test_described_pages_have_the_refused_topics_last(node: OneNode) -> None:
    allow(node, *allowing(DESCRIBE_TOPIC))
    rights = rights_of(node)
    everything = DescribeTopicPartitionsRequest()
    assert [each.name for each in node.send_request(everything, 0, rights=rights).topics] == [TOPIC]
    names = ["a", TOPIC]
    named = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=name) for name in names])
    described, refused = node.send_request(named, 0, rights=rights).topics
    assert described.topic_authorized_operations == bits(DESCRIBE)
    assert (refused.name, refused.error_code) == ("a", ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert refused.topic_authorized_operations == NOT_REQUESTED


def test_offsets_of_all_topics_are_of_those_that_may_be_described(node: OneNode) -> None:
    allow(node, *allowing(DESCRIBE_GROUP))
    group = OffsetFetchRequestGroup(group_id=GROUP, topics=None)
    request = OffsetFetchRequest(groups=[group])
    (found,) = node.send_request(request, 9, rights=rights_of(node)).groups
    assert (found.error_code, found.topics) == (ErrorCode.NONE, [])
    allow(node, *allowing(DESCRIBE_TOPIC))
    (found,) = node.send_request(request, 9, rights=rights_of(node)).groups
    assert [topic.name for topic in found.topics] == [TOPIC]


# ---- groups and transactions


@pytest.mark.parametrize("right", [DESCRIBE_GROUP, cluster(DESCRIBE)])
def test_groups_that_may_be_described_are_listed(node: OneNode, right: Allowed) -> None:
    assert node.send_request(ListGroupsRequest(), 5, rights=rights_of(node)).groups == []
    allow(node, *allowing(right))
    response = node.send_request(ListGroupsRequest(), 5, rights=rights_of(node))
    assert [group.group_id for group in response.groups] == [GROUP]


def test_transactions_that_may_be_described_are_listed(node: OneNode) -> None:
    request = ListTransactionsRequest()
    assert node.send_request(request, 2, rights=rights_of(node)).transaction_states == []
    allow(node, *allowing(DESCRIBE_ID))
    (listed,) = node.send_request(request, 2, rights=rights_of(node)).transaction_states
    assert listed.transactional_id == TRANSACTIONAL_ID


def test_transactions_are_described_without_hidden_topics(node: OneNode) -> None:
    begin_transaction(node)
    allow(node, *allowing(DESCRIBE_ID))
    request = DescribeTransactionsRequest(transactional_ids=[TRANSACTIONAL_ID])
    (described,) = node.send_request(request, 0, rights=rights_of(node)).transaction_states
    assert (described.transaction_state, described.topics) == ("Ongoing", [])
    allow(node, *allowing(DESCRIBE_TOPIC))
    (described,) = node.send_request(request, 0, rights=rights_of(node)).transaction_states
    assert [topic.topic for topic in described.topics] == [TOPIC]


def test_regular_expressions_match_topics_that_may_be_described(node: OneNode) -> None:
    allow(node, *allowing((AclOperation.READ, ResourceType.GROUP, "patterns")))
    joining = ConsumerGroupHeartbeatRequest(
        group_id="patterns",
        member_id="member",
        rebalance_timeout_ms=10_000,
        subscribed_topic_regex=".*",
        topic_partitions=[],
    )
    joined = node.send_request(joining, 1, rights=rights_of(node))
    assert joined.error_code == 0
    assert joined.assignment.topic_partitions == []
    allow(node, *allowing(DESCRIBE_TOPIC))
    node.broker.coordinators.groups.all[0].perform(lambda machine: machine.topics_changed())
    again = node.send_request(joining, 1, rights=rights_of(node))
    (assigned,) = again.assignment.topic_partitions
    assert assigned.topic_id == node.image.topics.by_name[TOPIC].id


# ---- authorized operations


def test_authorized_operations_of_a_topic_are_those_of_the_client(node: OneNode) -> None:
    allow(node, *allowing((AclOperation.READ, ResourceType.TOPIC, TOPIC)))
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=TOPIC)], include_topic_authorized_operations=True
    )
    (topic,) = node.send_request(request, 13, rights=rights_of(node)).topics
    assert topic.topic_authorized_operations == bits(AclOperation.READ, DESCRIBE)
    admin = rights_of(node, Principal("User", "admin"))
    (topic,) = node.send_request(request, 13, rights=admin).topics
    assert topic.topic_authorized_operations == TOPIC_OPERATIONS
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=SECRET)], include_topic_authorized_operations=True
    )
    (topic,) = node.send_request(request, 13, rights=rights_of(node)).topics
    assert topic.topic_authorized_operations == NOT_REQUESTED


def test_authorized_operations_of_the_cluster_need_describe(node: OneNode) -> None:
    cluster_request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    metadata = MetadataRequest(topics=[], include_cluster_authorized_operations=True)

    def returned() -> set[int]:
        rights = rights_of(node)
        described = node.send_request(cluster_request, 2, rights=rights)
        assert described.error_code == 0
        assert described.brokers
        return {
            described.cluster_authorized_operations,
            node.send_request(metadata, 9, rights=rights).cluster_authorized_operations,
        }

    allow(node, *allowing(cluster(AclOperation.CREATE)))
    assert returned() == {0}
    allow(node, *allowing(cluster(DESCRIBE)))
    assert returned() == {bits(AclOperation.CREATE, DESCRIBE)}
    allow(node, *allowing(cluster(AclOperation.ALL)))
    assert returned() == {CLUSTER_OPERATIONS}


def test_authorized_operations_of_groups_are_those_of_the_client(node: OneNode) -> None:
    allow(node, *allowing(DESCRIBE_GROUP, DESCRIBE_TOPIC))
    classic = DescribeGroupsRequest(groups=[GROUP], include_authorized_operations=True)
    (group,) = node.send_request(classic, 6, rights=rights_of(node)).groups
    assert group.authorized_operations == bits(DESCRIBE)
    become_consumer_group(node)
    request = ConsumerGroupDescribeRequest(group_ids=[GROUP], include_authorized_operations=True)
    (described,) = node.send_request(request, 1, rights=rights_of(node)).groups
    assert (described.error_code, described.authorized_operations) == (0, bits(DESCRIBE))
