"""On a tenant's listener the prefix is invisible, and two tenants use the same names."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.model import ErrorCode
from ottla.wire.apis import ApiKey
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.describe_acls import DescribeAclsRequest
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.stored.consumer_protocol import ConsumerProtocolSubscription
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.security.listeners import CLIENTS, PREFIX, SASL_CONFIGS, log_in
from tests.support.storage.batches import batch_of
from tests.support.tenancy.tenant_node import (
    ACME,
    BETA,
    TenantClient,
    set_tenant,
    start_tenant_node,
)


def topics_of(client: TenantClient) -> dict[str, Any]:
    answer = client.send(MetadataRequest(topics=None))
    return {topic.name: topic.topic_id for topic in answer.topics}


def create(client: TenantClient, name: str, partitions: int = 1) -> int:
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    (result,) = client.send(CreateTopicsRequest(topics=[topic])).topics
    assert result.name == name
    code: int = result.error_code
    return code


def produce(client: TenantClient, name: str, value: bytes) -> int:
    data = PartitionProduceData(index=0, records=bytes(batch_of(value)))
    request = ProduceRequest(
        acks=-1, topic_data=[TopicProduceData(name=name, partition_data=[data])]
    )
    (topic,) = client.send(request, 12).responses
    assert topic.name == name
    (partition,) = topic.partition_responses
    code: int = partition.error_code
    return code


def fetched(client: TenantClient, topic_id: Any) -> Any:
    partition = FetchPartition(partition=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic_id=topic_id, partitions=[partition])]
    (topic,) = client.send(FetchRequest(topics=topics, session_epoch=-1)).responses
    assert topic.topic_id == topic_id
    return topic.partitions[0]


def pair(start_node: StartNode, **limits: str) -> tuple[OneNode, TenantClient, TenantClient]:
    node = start_tenant_node(start_node, **limits)
    return node, TenantClient(node, ACME), TenantClient(node, BETA)


def test_two_tenants_have_topics_of_the_same_name(start_node: StartNode) -> None:
    node, acme, beta = pair(start_node)
    for client, value in ((acme, b"of acme"), (beta, b"of beta")):
        assert create(client, "orders") == 0
        assert produce(client, "orders", value) == 0
    assert set(node.image.topics.by_name) >= {"acme.orders", "beta.orders"}
    for client, value in ((acme, b"of acme"), (beta, b"of beta")):
        (name,) = topics_of(client)
        assert name == "orders"
        assert value in bytes(fetched(client, topics_of(client)["orders"]).records)


def test_the_id_of_anothers_topic_is_unknown(start_node: StartNode) -> None:
    node, acme, beta = pair(start_node)
    create(beta, "orders")
    produce(beta, "orders", b"secret")
    foreign = topics_of(beta)["orders"]
    assert foreign == node.image.topics.by_name["beta.orders"].id
    partition = fetched(acme, foreign)
    assert partition.error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert not partition.records


def test_the_operators_topics_are_not_visible(start_node: StartNode) -> None:
    node, acme, _ = pair(start_node)
    node.create_topic("orders")
    acme.send(FindCoordinatorRequest(key_type=0, coordinator_keys=["sales"]))
    assert topics_of(acme) == {}


def test_error_messages_have_no_prefix(start_node: StartNode) -> None:
    _, acme, _ = pair(start_node)
    create(acme, "orders")
    topic = CreatableTopic(name="orders", num_partitions=1, replication_factor=1)
    (result,) = acme.send(CreateTopicsRequest(topics=[topic])).topics
    assert result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert "acme" not in result.error_message


def test_apis_of_the_operator_are_not_offered(start_node: StartNode) -> None:
    node, acme, _ = pair(start_node)
    offered = {each.api_key for each in acme.send(ApiVersionsRequest(), 2).api_keys}
    assert ApiKey.PRODUCE in offered
    assert ApiKey.CREATE_ACLS not in offered
    assert acme.send(DescribeAclsRequest()) is None
    assert ApiKey.CREATE_ACLS in node.broker.apis


def join(client: TenantClient, group: str, topics: list[str]) -> Any:
    subscription = b"\0\1" + ConsumerProtocolSubscription(topics=topics).encode(1)
    protocol = JoinGroupRequestProtocol(name="range", metadata=subscription)
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[protocol],
    )
    # Older members need no id before they join.
    return client.send(request, 3)


def test_members_of_a_group_see_their_own_names(start_node: StartNode) -> None:
    _, acme, beta = pair(start_node)
    for client in (acme, beta):
        create(client, "orders")
        client.send(FindCoordinatorRequest(key_type=0, coordinator_keys=["sales"]))
        joined = join(client, "sales", ["orders"])
        assert joined.error_code == 0
        (member,) = joined.members
        sent = ConsumerProtocolSubscription.decode(bytes(member.metadata)[2:], 1)
        assert sent.topics == ["orders"]


def test_a_regular_expression_matches_the_tenants_topics_only(start_node: StartNode) -> None:
    node, acme, beta = pair(start_node)
    ids = {}
    for client in (acme, beta):
        create(client, "orders")
        create(client, "other")
        ids[client] = topics_of(client)["orders"]
    acme.send(FindCoordinatorRequest(key_type=0, coordinator_keys=["sales"]))
    request = ConsumerGroupHeartbeatRequest(
        group_id="sales",
        member_id="member",
        member_epoch=0,
        rebalance_timeout_ms=10_000,
        subscribed_topic_regex="^orders.*",
        topic_partitions=[],
    )
    answer = acme.send(request)
    assert answer.error_code == 0
    owned = {each.topic_id for each in answer.assignment.topic_partitions}
    for _ in range(5):
        if owned:
            break
        request.member_epoch = answer.member_epoch
        answer = acme.send(request)
        if answer.assignment is not None:
            owned = {each.topic_id for each in answer.assignment.topic_partitions}
    assert owned == {ids[acme]}
    assert node.image.topics.by_name["beta.orders"].id not in owned


def test_a_client_without_a_tenant_is_closed(start_node: StartNode) -> None:
    node, acme, _ = pair(start_node)
    assert topics_of(acme) == {}
    assert set_tenant(node, "acme", None) == 0
    assert TenantClient(node, ACME).send(MetadataRequest(topics=None)) is None


def test_the_connections_of_a_deleted_tenant_are_closed(start_node: StartNode) -> None:
    node, acme, beta = pair(start_node)
    topics_of(acme)
    topics_of(beta)
    idle = TenantClient(node, ACME)
    topics_of(idle)
    assert set_tenant(node, "acme", None) == 0
    assert acme.stream.is_closed
    assert idle.stream.is_closed
    assert not beta.stream.is_closed
    for client in (acme, idle):
        client.stream.end()
    assert set_tenant(node, "acme", "connections=1") == 0
    assert topics_of(TenantClient(node, ACME)) == {}


def test_a_fetch_session_of_another_tenant_does_not_exist(start_node: StartNode) -> None:
    node, acme, beta = pair(start_node)
    partition = FetchPartition(partition=0, partition_max_bytes=1 << 20)
    for client in (acme, beta):
        create(client, "orders")
        produce(client, "orders", b"record")
    topics = [FetchTopic(topic_id=topics_of(acme)["orders"], partitions=[partition])]
    opened = acme.send(FetchRequest(topics=topics, session_epoch=0))
    assert opened.session_id
    continued = FetchRequest(session_id=opened.session_id, session_epoch=1)
    assert beta.send(continued).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    ended = FetchRequest(session_id=opened.session_id, session_epoch=-1)
    beta.send(ended)
    assert acme.send(continued).error_code == ErrorCode.NONE
    assert len(node.broker.fetch_sessions) == 1


@pytest.mark.parametrize("limits", ["topics", "topics=x", "rooms=3", "topics=-1"])
def test_limits_that_cannot_be_read_are_refused(start_node: StartNode, limits: str) -> None:
    node = start_tenant_node(start_node)
    assert set_tenant(node, "acme", limits) == ErrorCode.INVALID_CONFIG
    assert set_tenant(node, "a.b", "") == ErrorCode.INVALID_CONFIG


def test_a_tenant_has_a_limited_number_of_connections(start_node: StartNode) -> None:
    node, acme, beta = pair(start_node, acme="connections=1")
    assert topics_of(acme) == {}
    assert TenantClient(node, ACME).send(MetadataRequest(topics=None)) is None
    assert topics_of(beta) == {}
    acme.stream.end()
    assert topics_of(TenantClient(node, ACME)) == {}


def test_the_user_decides_the_tenant_on_a_listener_of_all(start_node: StartNode) -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    users = 'user_acme.app="secret" user_beta.app="secret" user_alice="secret"'
    node = start_node(
        configs=SASL_CONFIGS
        | {
            "ottla.tenant.listeners": f"{CLIENTS}:*",
            f"{PREFIX}plain.sasl.jaas.config": f"{module} {users};",
        }
    )
    clients = {}
    for tenant in ("acme", "beta"):
        assert set_tenant(node, tenant, "") == 0
        clients[tenant] = TenantClient(node, CLIENTS)
        assert log_in(clients[tenant].stream, f"{tenant}.app", "secret") == 0
    assert create(clients["acme"], "orders") == 0
    assert list(topics_of(clients["acme"])) == ["orders"]
    assert topics_of(clients["beta"]) == {}
    operator = TenantClient(node, CLIENTS)
    assert log_in(operator.stream, "alice", "secret") == 0
    assert operator.send(MetadataRequest(topics=None)) is None
