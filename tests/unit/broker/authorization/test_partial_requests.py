"""The parts of a request that a client may not do are refused, and the other parts are served."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, Permission, ResourceType
from ottla.wire.messages import fetch, produce
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.support.authorization.authorized_api import GROUP, TOPIC
from tests.support.authorization.authorized_node import (
    CONFIGS,
    allow,
    allowing,
    rights_of,
    start_authorized_node,
)
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.security.acls import HOST, acl
from tests.support.storage.batches import batch_of

SECRET = "secret"
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    node = start_authorized_node(start_node)
    node.create_topic(SECRET)
    allow(
        node,
        *allowing(
            (AclOperation.READ, ResourceType.TOPIC, TOPIC),
            (AclOperation.WRITE, ResourceType.TOPIC, TOPIC),
        ),
    )
    return node


def _produce(*names: str, acks: int = -1) -> produce.ProduceRequest:
    data = produce.PartitionProduceData(records=bytes(batch_of(b"value")))
    return produce.ProduceRequest(
        acks=acks,
        timeout_ms=1_000,
        topic_data=[produce.TopicProduceData(name=name, partition_data=[data]) for name in names],
    )


def _fetch(*names: str, session_id: int = 0, session_epoch: int = -1) -> fetch.FetchRequest:
    return fetch.FetchRequest(
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[
            fetch.FetchTopic(topic=name, partitions=[fetch.FetchPartition(partition_max_bytes=99)])
            for name in names
        ],
    )


def _codes(response: fetch.FetchResponse) -> dict[str, int]:
    return {topic.topic: topic.partitions[0].error_code for topic in response.responses}


@pytest.mark.parametrize("acks", [1, -1])
def test_authorized_topics_of_a_produce_request_are_appended(node: OneNode, acks: int) -> None:
    request = _produce(SECRET, TOPIC, acks=acks)
    response = node.send_request(request, 12, rights=rights_of(node))
    codes = {each.name: each.partition_responses[0].error_code for each in response.responses}
    assert codes == {TOPIC: 0, SECRET: REFUSED}
    assert (node.log(TOPIC).log_end_offset, node.log(SECRET).log_end_offset) == (1, 0)


def test_refused_append_without_acknowledgement_closes_the_connection(node: OneNode) -> None:
    with pytest.raises(ConnectionAbortedError):
        node.send_request(_produce(SECRET, TOPIC, acks=0), 12, rights=rights_of(node))
    assert (node.log(TOPIC).log_end_offset, node.log(SECRET).log_end_offset) == (1, 0)


def test_unknown_topics_are_refused_like_others(node: OneNode) -> None:
    rights = rights_of(node)
    response = node.send_request(_produce("unknown"), 12, rights=rights)
    assert response.responses[0].partition_responses[0].error_code == REFUSED
    assert _codes(node.send_request(_fetch("unknown"), 12, rights=rights)) == {"unknown": REFUSED}


def test_authorized_topics_of_a_fetch_are_read(node: OneNode) -> None:
    node.append(TOPIC, batch_of(b"value"))
    response = node.send_request(_fetch(SECRET, TOPIC), 12, rights=rights_of(node))
    assert _codes(response) == {SECRET: REFUSED, TOPIC: 0}
    assert {len(topic.partitions[0].records) > 0 for topic in response.responses} == {True, False}


def test_a_right_that_is_withdrawn_ends_a_fetch_session_of_the_topic(node: OneNode) -> None:
    rights = rights_of(node)
    first = node.send_request(_fetch(TOPIC, session_epoch=0), 12, rights=rights)
    assert first.session_id
    withdraw_all(node)
    following = _fetch(session_id=first.session_id, session_epoch=1)
    assert _codes(node.send_request(following, 12, rights=rights)) == {TOPIC: REFUSED}


def test_a_denial_prevails(node: OneNode) -> None:
    denial = acl(
        AclOperation.WRITE, ResourceType.TOPIC, TOPIC, host=HOST, permission=Permission.DENY
    )
    allow(node, denial)
    response = node.send_request(_produce(TOPIC), 12, rights=rights_of(node))
    assert response.responses[0].partition_responses[0].error_code == REFUSED
    elsewhere = rights_of(node, host="10.0.0.2")
    response = node.send_request(_produce(TOPIC), 12, rights=elsewhere)
    assert response.responses[0].partition_responses[0].error_code == 0


def test_offsets_of_authorized_topics_are_committed(node: OneNode) -> None:
    allow(node, *allowing((AclOperation.READ, ResourceType.GROUP, GROUP)))
    partition = OffsetCommitRequestPartition(committed_offset=0)
    topics = [
        OffsetCommitRequestTopic(name=name, partitions=[partition])
        for name in (TOPIC, SECRET, "unknown")
    ]
    request = OffsetCommitRequest(group_id=GROUP, topics=topics)
    response = node.send_request(request, 9, rights=rights_of(node))
    codes = {each.name: each.partitions[0].error_code for each in response.topics}
    assert codes == {TOPIC: 0, SECRET: REFUSED, "unknown": REFUSED}


def test_coordinators_are_found_for_authorized_keys(node: OneNode) -> None:
    allow(node, *allowing((AclOperation.DESCRIBE, ResourceType.GROUP, GROUP)))
    request = FindCoordinatorRequest(coordinator_keys=[GROUP, "hidden"])
    found, hidden = node.send_request(request, 6, rights=rights_of(node)).coordinators
    assert (found.error_code, found.node_id) == (0, 1)
    assert hidden.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert (hidden.node_id, hidden.host, hidden.port) == (-1, "", -1)


def test_a_refused_key_creates_no_internal_topic(start_node: StartNode) -> None:
    node = start_node(configs=CONFIGS)
    request = FindCoordinatorRequest(coordinator_keys=[GROUP])
    (refused,) = node.send_request(request, 6, rights=rights_of(node)).coordinators
    assert refused.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert not node.image.topics.by_name


def test_authorized_topics_are_created_and_deleted(node: OneNode) -> None:
    allow(
        node,
        *allowing(
            (AclOperation.CREATE, ResourceType.TOPIC, "mine"),
            (AclOperation.DELETE, ResourceType.TOPIC, "mine"),
        ),
    )
    topics = [
        CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        for name in ("theirs", "mine")
    ]
    created = node.send_request(
        CreateTopicsRequest(topics=topics), 7, rights=rights_of(node)
    ).topics
    codes = {each.name: (each.error_code, each.topic_config_error_code) for each in created}
    assert codes == {"theirs": (REFUSED, 0), "mine": (0, REFUSED)}
    assert {each.num_partitions for each in created} == {-1}
    assert "theirs" not in node.image.topics.by_name
    states = [DeleteTopicState(name=name) for name in ("theirs", "mine", SECRET)]
    deleted = node.send_request(
        DeleteTopicsRequest(topics=states), 6, rights=rights_of(node)
    ).responses
    assert {each.name: each.error_code for each in deleted} == {
        "theirs": REFUSED,
        "mine": 0,
        SECRET: REFUSED,
    }
    assert set(node.image.topics.by_name) >= {TOPIC, SECRET}


def test_deletion_by_id_does_not_reveal_the_name(node: OneNode) -> None:
    state = DeleteTopicState(topic_id=node.image.topics.by_name[SECRET].id)
    request = DeleteTopicsRequest(topics=[state])
    (refused,) = node.send_request(request, 6, rights=rights_of(node)).responses
    assert (refused.name, refused.error_code) == (None, REFUSED)
    allow(node, *allowing((AclOperation.DESCRIBE, ResourceType.TOPIC, SECRET)))
    (refused,) = node.send_request(request, 6, rights=rights_of(node)).responses
    assert (refused.name, refused.error_code) == (SECRET, REFUSED)


def withdraw_all(node: OneNode) -> None:
    every = DeleteAclsFilter(
        resource_type_filter=ResourceType.ANY,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=AclOperation.ANY,
        permission_type=1,
    )
    (deleted,) = node.send_request(DeleteAclsRequest(filters=[every]), 3).filter_results
    assert deleted.matching_acls
