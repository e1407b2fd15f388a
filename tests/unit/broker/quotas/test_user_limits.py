"""A user has no more topics, partitions, groups, connections and bytes than its limits."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ottla.metadata import image_records
from ottla.model import ErrorCode
from ottla.quotas.usage import USAGE_TAG, decode_usage
from ottla.security.principal import Principal
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.describe_client_quotas import DescribeClientQuotasRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from ottla.wire.requests import encode_request
from ottla.wire.schema import Message
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import HOST, LISTENER, OneNode, StartNode
from tests.support.quotas.quota_changes import quota_change, set_quota
from tests.support.storage.batches import batch_of

BEYOND: Final = ErrorCode.POLICY_VIOLATION
ALICE, BOB = "alice", "bob"
OTHER: Final = "CLIENTS"
CONFIGS: Final = {
    "listeners": f"{LISTENER}://{HOST}:9092,{OTHER}://{HOST}:9093",
    "listener.security.protocol.map": (
        f"{LISTENER}:PLAINTEXT,{OTHER}:PLAINTEXT,CONTROLLER:PLAINTEXT"
    ),
    "offsets.topic.num.partitions": "1",
}


class User:
    def __init__(self, node: OneNode, name: str) -> None:
        self._node = node
        self._rights = node.broker.authorizer.rights_of(Principal("User", name), "192.0.2.1")

    def send(self, request: Message, version: int | None = None) -> Any:
        version = type(request).stable.highest if version is None else version
        return self._node.send_request(request, version, rights=self._rights)

    def create(self, name: str, partitions: int = 1) -> Any:
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
        (result,) = self.send(CreateTopicsRequest(topics=[topic])).topics
        return result

    def produce(self, topic: str, size: int) -> int:
        data = PartitionProduceData(index=0, records=bytes(batch_of(b"x" * size)))
        request = ProduceRequest(
            acks=-1, topic_data=[TopicProduceData(name=topic, partition_data=[data])]
        )
        (answer,) = self.send(request, 12).responses
        code: int = answer.partition_responses[0].error_code
        return code

    def join(self, group_id: str) -> Any:
        request = ConsumerGroupHeartbeatRequest(
            group_id=group_id,
            member_id="member",
            member_epoch=0,
            rebalance_timeout_ms=1_000,
            subscribed_topic_names=["orders"],
            topic_partitions=[],
        )
        return self.send(request)


def limited(start_node: StartNode, **limits: float) -> tuple[OneNode, User, User]:
    """A node with these limits of alice."""
    node = start_node(configs=CONFIGS)
    set_quota(node, {"user": ALICE}, limits)
    return node, User(node, ALICE), User(node, BOB)


def test_topics_that_a_user_created_are_limited(start_node: StartNode) -> None:
    node, alice, bob = limited(start_node, topics_max=2)
    assert bob.create("of-bob").error_code == 0
    assert [alice.create(name).error_code for name in ("one", "two")] == [0, 0]
    refused = alice.create("three")
    assert refused.error_code == BEYOND
    assert "3 topics" in refused.error_message
    assert "user alice may have 2" in refused.error_message
    deleted = DeleteTopicsRequest(topics=[DeleteTopicState(name="one")], topic_names=["one"])
    node.send_request(deleted, 6)
    assert alice.create("three").error_code == 0


def test_the_owner_of_a_topic_is_in_snapshots(start_node: StartNode) -> None:
    node, alice, _ = limited(start_node, topics_max=2)
    alice.create("one")
    assert node.image.topics.by_name["one"].owner == ALICE
    assert node.image.copy().topics.by_name["one"].owner == ALICE
    (record,) = (each for each in image_records(node.image) if getattr(each, "name", "") == "one")
    again = type(record).decode(record.encode(0), 0)
    assert again.unknown_tags == {10_000: b"alice"}


def test_partitions_are_limited_whoever_adds_them(start_node: StartNode) -> None:
    _, alice, bob = limited(start_node, partitions_max=5)
    assert alice.create("one", 4).error_code == 0
    assert alice.create("two", 2).error_code == BEYOND
    codes = []
    for count in (5, 6):
        topic = CreatePartitionsTopic(name="one", count=count, assignments=None)
        (result,) = bob.send(CreatePartitionsRequest(topics=[topic])).results
        codes.append(result.error_code)
    assert codes == [0, BEYOND]


def test_a_default_limits_each_user_without_a_limit_of_its_own(start_node: StartNode) -> None:
    node, alice, bob = limited(start_node, topics_max=2)
    set_quota(node, {"user": None}, {"topics_max": 1})
    assert [alice.create(name).error_code for name in ("a1", "a2", "a3")] == [0, 0, BEYOND]
    assert [bob.create(name).error_code for name in ("b1", "b2")] == [0, BEYOND]
    # What a node creates for itself is nobody's.
    node.create_topic("internal")
    node.create_topic("another")


def coordinated(node: OneNode, user: User) -> None:
    user.create("orders")
    user.send(FindCoordinatorRequest(key_type=0, coordinator_keys=["any"]))


def test_groups_are_limited(start_node: StartNode) -> None:
    node, alice, bob = limited(start_node, groups_max=1)
    coordinated(node, bob)
    assert bob.join("of-bob").error_code == 0
    assert alice.join("first").error_code == 0
    refused = alice.join("second")
    assert refused.error_code == BEYOND
    assert "user alice has 1 group " in refused.error_message
    share = ShareGroupHeartbeatRequest(
        group_id="shared", member_id="m", member_epoch=0, subscribed_topic_names=["orders"]
    )
    assert alice.send(share).error_code == BEYOND
    # Neither its own group nor that of another is a new one.
    assert alice.join("first").error_code == 0
    assert alice.join("of-bob").error_code == 0
    assert bob.join("second").error_code == 0


def test_retained_bytes_are_limited_whoever_produces(start_node: StartNode) -> None:
    node, alice, bob = limited(start_node, retained_bytes_max=2_000)
    alice.create("of-alice")
    bob.create("of-bob")
    codes = []
    for user in (alice, bob, alice, bob):
        codes.append(user.produce("of-alice", 900))
        node.clock.advance(1.1)
    assert codes == [0, 0, 0, BEYOND]
    assert [alice.produce("of-bob", 900) for _ in range(4)] == [0] * 4


def request_of(client_id: str) -> bytes:
    return b"".join(
        encode_request(MetadataRequest(topics=[]), 12, correlation_id=0, client_id=client_id)
    )


def test_connections_are_limited(start_node: StartNode, caplog: pytest.LogCaptureFixture) -> None:
    node = start_node(configs=CONFIGS)
    set_quota(node, {"user": "ANONYMOUS"}, {"connections_max": 2})
    clients = [ClientStream(node, listener=OTHER) for _ in range(3)]
    with caplog.at_level("INFO"):
        for client in clients:
            client.feed(request_of("client"))
    assert [client.is_closed for client in clients] == [False, False, True]
    assert "user ANONYMOUS has 2 connections to this node, which is its limit" in caplog.text
    clients[0].end()
    again = ClientStream(node, listener=OTHER)
    again.feed(request_of("client"))
    assert not again.is_closed
    # Nodes use this listener, and may always connect.
    node_connection = ClientStream(node, listener=LISTENER)
    node_connection.feed(request_of("node"))
    assert not node_connection.is_closed


def test_what_users_have_is_shown(start_node: StartNode) -> None:
    node, alice, bob = limited(start_node, topics_max=5, partitions_max=9, groups_max=3)
    set_quota(node, {"user": None}, {"retained_bytes_max": 10_000, "connections_max": 7})
    coordinated(node, bob)
    alice.create("one", 3)
    alice.produce("one", 100)
    alice.join("sales")
    request = DescribeClientQuotasRequest()
    request.unknown_tags = {USAGE_TAG: b""}
    answer = node.send_request(request, 1)
    found = {
        (each.key, each.user): (each.used, each.limit)
        for each in decode_usage(answer.unknown_tags[USAGE_TAG])
    }
    assert found["topics_max", ALICE] == (1, 5)
    assert found["partitions_max", ALICE] == (3, 9)
    assert found["groups_max", ALICE] == (1, 3)
    assert found["retained_bytes_max", ALICE][0] > 100
    assert ("topics_max", BOB) not in found


@pytest.mark.parametrize(
    ("entity", "values"),
    [
        ({"client-id": "loader"}, {"topics_max": 1}),
        ({"user": ALICE, "client-id": "loader"}, {"topics_max": 1}),
        ({"user": ALICE}, {"topics_max": 1.5}),
        ({"user": ALICE}, {"topics_max": 0}),
        ({"user": ALICE}, {"connections_max": 2.0**32}),
    ],
)
def test_an_invalid_limit_is_refused(
    start_node: StartNode, entity: dict[str, str], values: dict[str, float]
) -> None:
    (entry,) = start_node().send_request(quota_change(entity, values), 1).entries
    assert entry.error_code == ErrorCode.INVALID_REQUEST
