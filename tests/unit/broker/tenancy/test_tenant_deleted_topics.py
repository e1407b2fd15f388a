"""Tenants list, restore and purge their own deleted topics, and no others."""

from __future__ import annotations

from ottla.configs import ConfigResourceType
from ottla.model import ErrorCode, Uuid, uuid_from_text, uuid_to_text
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from tests.support.nodes.one_node import StartNode
from tests.support.tenancy.tenant_node import ACME, BETA, TenantClient, start_tenant_node

TOPIC = "orders"


def create(client: TenantClient, name: str, config: str, value: str, partitions: int = 1) -> int:
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=-1,
        configs=[CreatableTopicConfig(name=config, value=value)],
    )
    (result,) = client.send(CreateTopicsRequest(topics=[topic])).topics
    assert result.name == name
    code: int = result.error_code
    return code


def delete(client: TenantClient, name: str) -> int:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)])
    (result,) = client.send(request).responses
    code: int = result.error_code
    return code


def deleted(client: TenantClient) -> dict[str, Uuid]:
    wanted = DescribeConfigsResource(resource_type=ConfigResourceType.TOPIC, resource_name="~")
    (result,) = client.send(DescribeConfigsRequest(resources=[wanted])).results
    assert (result.error_code, result.resource_name) == (0, "~")
    names = [each.name.partition("~") for each in result.configs]
    return {name: uuid_from_text(topic_id) for name, _, topic_id in names}


def undelete(client: TenantClient, topic_id: Uuid, name: str = TOPIC) -> int:
    return create(client, name, "ottla.undelete", uuid_to_text(topic_id), partitions=-1)


def test_a_tenant_has_its_own_deleted_topics(start_node: StartNode) -> None:
    node = start_tenant_node(start_node)
    acme, beta = TenantClient(node, ACME), TenantClient(node, BETA)
    for client in (acme, beta):
        assert create(client, TOPIC, "ottla.delete.retention.ms", "60000") == 0
    ids = {name: topic.id for name, topic in node.image.topics.by_name.items()}
    assert delete(acme, TOPIC) == 0

    assert deleted(acme) == {TOPIC: ids["acme.orders"]}
    assert deleted(beta) == {}
    assert undelete(beta, ids["acme.orders"], "stolen") == ErrorCode.UNKNOWN_TOPIC_ID
    purged = f"{TOPIC}~{uuid_to_text(ids['acme.orders'])}"
    assert delete(beta, purged) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    assert undelete(acme, ids["acme.orders"]) == 0
    assert node.image.topics.by_name["acme.orders"].id == ids["acme.orders"]
    assert delete(acme, TOPIC) == 0
    assert delete(acme, purged) == 0
    assert deleted(acme) == {}


def test_restored_topics_count_for_the_limits_of_a_tenant(start_node: StartNode) -> None:
    node = start_tenant_node(start_node, acme="topics=1")
    acme = TenantClient(node, ACME)
    kept = ("ottla.delete.retention.ms", "60000")
    assert create(acme, TOPIC, *kept) == 0
    delete(acme, TOPIC)
    assert create(acme, "other", *kept) == 0
    (topic_id,) = deleted(acme).values()
    assert undelete(acme, topic_id) == ErrorCode.POLICY_VIOLATION
    delete(acme, "other")
    assert undelete(acme, topic_id) == 0
