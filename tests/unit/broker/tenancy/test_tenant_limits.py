"""A tenant has no more topics, partitions, groups and bytes than its limits."""

from __future__ import annotations

from ottla.coordinator.runtime.shard import ShardState
from ottla.model import ErrorCode
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.support.nodes.one_node import StartNode
from tests.support.tenancy.tenant_node import set_tenant
from tests.unit.broker.tenancy.test_tenant_listener import create, join, pair, produce

BEYOND = ErrorCode.POLICY_VIOLATION


def test_topics_are_limited(start_node: StartNode) -> None:
    node, acme, beta = pair(start_node, acme="topics=2")
    assert [create(acme, name) for name in ("one", "two", "three")] == [0, 0, BEYOND]
    assert [create(beta, name) for name in ("one", "two", "three")] == [0, 0, 0]
    request = MetadataRequest(topics=[MetadataRequestTopic(name="automatic")])
    (topic,) = acme.send(request).topics
    assert topic.error_code == BEYOND
    assert "acme.automatic" not in node.image.topics.by_name
    set_tenant(node, "acme", "topics=3")
    assert create(acme, "three") == 0


def test_topics_of_one_request_are_counted_together(start_node: StartNode) -> None:
    _, acme, _ = pair(start_node, acme="partitions=5")
    topics = [
        CreatableTopic(name=name, num_partitions=2, replication_factor=1)
        for name in ("one", "two", "three")
    ]
    response = acme.send(CreateTopicsRequest(topics=topics))
    assert [each.error_code for each in response.topics] == [0, 0, BEYOND]
    assert "6 partitions" in response.topics[2].error_message


def test_added_partitions_are_limited(start_node: StartNode) -> None:
    _, acme, _ = pair(start_node, acme="partitions=5")
    assert create(acme, "one", partitions=2) == 0
    codes = []
    for count in (5, 6):
        topic = CreatePartitionsTopic(name="one", count=count, assignments=None)
        (result,) = acme.send(CreatePartitionsRequest(topics=[topic])).results
        codes.append(result.error_code)
    assert codes == [0, BEYOND]


def test_groups_are_limited(start_node: StartNode) -> None:
    node, acme, beta = pair(start_node, acme="groups=1")
    create(acme, "orders")
    acme.send(FindCoordinatorRequest(key_type=0, coordinator_keys=["sales"]))
    assert join(acme, "sales", ["orders"]).error_code == 0
    assert join(acme, "other", ["orders"]).error_code == BEYOND
    partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topics = [TxnOffsetCommitRequestTopic(name="orders", partitions=[partition])]
    answer = acme.send(TxnOffsetCommitRequest(transactional_id="t", group_id="x", topics=topics))
    assert answer.topics[0].partitions[0].error_code == BEYOND
    heartbeat = ConsumerGroupHeartbeatRequest(
        group_id="third",
        member_id="member",
        member_epoch=0,
        rebalance_timeout_ms=1_000,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
    )
    answer = acme.send(heartbeat)
    assert answer.error_code == BEYOND
    assert "acme" in answer.error_message or "may have 1" in answer.error_message
    create(beta, "orders")
    assert beta.send(heartbeat).error_code == 0
    assert "acme" in node.broker.tenants.tenancy.tenants


def test_a_node_refuses_only_groups_that_it_coordinates(start_node: StartNode) -> None:
    node, acme, _ = pair(start_node, acme="groups=1")
    create(acme, "orders")
    acme.send(FindCoordinatorRequest(key_type=0, coordinator_keys=["sales"]))
    assert join(acme, "sales", ["orders"]).error_code == 0
    (shard,) = node.broker.coordinators.groups.all
    shard.state = ShardState.LOADING
    assert join(acme, "other", ["orders"]).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_retained_bytes_are_limited(start_node: StartNode) -> None:
    node, acme, beta = pair(start_node, acme="retained_bytes=2000")
    for client in (acme, beta):
        create(client, "orders")
    codes = []
    for _ in range(4):
        codes.append(produce(acme, "orders", b"x" * 900))
        node.clock.advance(1.1)
    assert codes == [0, 0, 0, BEYOND]
    assert [produce(beta, "orders", b"x" * 900) for _ in range(4)] == [0] * 4
    node.create_topic("acme.other")
