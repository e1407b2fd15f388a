"""Partitions that are created and deleted count; a client without tokens is refused, or throttled
if it is too old to know the error (KIP-599)."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.security.acls.rights import Rights
from ottla.security.principal import ANONYMOUS
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.schema import Message
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.quotas.quota_changes import set_quota

CLIENT = Rights(None, ANONYMOUS, "127.0.0.1")
EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED
# All tokens, of eleven seconds: 11.
RATE = 1.0


def limited(start_node: StartNode) -> OneNode:
    node = start_node()
    set_quota(node, {"client-id": "test"}, {"controller_mutation_rate": RATE})
    return node


def create(name: str, partitions: int) -> Message:
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    return CreateTopicsRequest(topics=[topic])


def delete(name: str) -> Message:
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], topic_names=[name])


def grow(name: str, count: int) -> Message:
    return CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=count, assignments=None)]
    )


def test_a_burst_is_accepted_and_its_debt_delays_the_next_request(start_node: StartNode) -> None:
    node = limited(start_node)
    first = node.send_request(create("first", 31), 7, rights=CLIENT)
    assert first.topics[0].error_code == 0
    assert first.throttle_time_ms == 0
    second = node.send_request(create("second", 1), 7, rights=CLIENT)
    assert second.topics[0].error_code == EXCEEDED
    assert second.throttle_time_ms == 20_000
    assert "second" not in node.image.topics.by_name
    node.clock.advance(20.001)
    third = node.send_request(create("second", 1), 7, rights=CLIENT)
    assert third.topics[0].error_code == 0


def test_of_one_request_the_topics_beyond_the_quota_are_refused(start_node: StartNode) -> None:
    node = limited(start_node)
    topics = [
        CreatableTopic(name=f"topic{number}", num_partitions=12, replication_factor=1)
        for number in range(3)
    ]
    response = node.send_request(CreateTopicsRequest(topics=topics), 7, rights=CLIENT)
    assert [each.error_code for each in response.topics] == [0, EXCEEDED, EXCEEDED]
    assert response.throttle_time_ms == 1_000


@pytest.mark.parametrize(
    ("request_of", "strict", "permissive"),
    [
        (lambda: create("new", 1), 6, 5),
        (lambda: delete("first"), 5, 4),
        (lambda: grow("first", 40), 3, 2),
    ],
    ids=["create topics", "delete topics", "create partitions"],
)
def test_old_clients_are_throttled_and_not_refused(
    start_node: StartNode, request_of: object, strict: int, permissive: int
) -> None:
    assert callable(request_of)
    outcomes = []
    for version in (strict, permissive):
        node = limited(start_node)
        node.send_request(create("first", 31), 7, rights=CLIENT)
        before = len(node.image.topics.by_name), node_partitions(node)
        response = node.send_request(request_of(), version, rights=CLIENT)
        assert response.throttle_time_ms >= 20_000
        outcomes.append((len(node.image.topics.by_name), node_partitions(node)) == before)
    assert outcomes == [True, False]


def node_partitions(node: OneNode) -> int:
    return sum(len(topic.partitions) for topic in node.image.topics)


def test_requests_of_the_node_itself_have_no_quota(start_node: StartNode) -> None:
    node = limited(start_node)
    for number in range(3):
        node.create_topic(f"topic{number}", partitions=31)


def test_other_clients_have_their_own_tokens(start_node: StartNode) -> None:
    node = limited(start_node)
    set_quota(node, {"client-id": "test"}, {"controller_mutation_rate": None})
    set_quota(node, {"client-id": "other"}, {"controller_mutation_rate": RATE})
    for number in range(3):
        created = node.send_request(create(f"topic{number}", 31), 7, rights=CLIENT)
        assert created.topics[0].error_code == 0


def test_a_topic_that_metadata_would_create_waits_for_tokens(start_node: StartNode) -> None:
    node = limited(start_node)
    node.send_request(create("first", 31), 7, rights=CLIENT)
    request = MetadataRequest(topics=[MetadataRequestTopic(name="automatic")])
    (topic,) = node.send_request(request, 12, rights=CLIENT).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    node.clock.advance(21)
    (topic,) = node.send_request(request, 12, rights=CLIENT).topics
    assert topic.error_code == ErrorCode.NONE
