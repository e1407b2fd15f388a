from __future__ import annotations

from ottla.configs import ConfigResource as Resource
from ottla.configs import ConfigResourceType
from ottla.model import ErrorCode
from ottla.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
)
from tests.support.nodes.one_node import NODE_ID, OneNode


def listed(node: OneNode, *kinds: int) -> set[tuple[int, str]]:
    response = node.send_request(ListConfigResourcesRequest(resource_types=list(kinds)), 1)
    assert response.error_code == ErrorCode.NONE
    return {(each.resource_type, each.resource_name) for each in response.config_resources}


def subscribe(node: OneNode) -> None:
    resource = Resource(ConfigResourceType.CLIENT_METRICS, "subscription")
    node.image.configs[resource] = {"interval.ms": "1000"}


def test_all_types_are_listed_if_none_is_named(node: OneNode) -> None:
    node.create_topic("orders")
    subscribe(node)

    assert listed(node) == {
        (ConfigResourceType.TOPIC, "orders"),
        (ConfigResourceType.BROKER, str(NODE_ID)),
        (ConfigResourceType.BROKER_LOGGER, str(NODE_ID)),
        (ConfigResourceType.CLIENT_METRICS, "subscription"),
    }


def test_only_types_that_are_named_are_listed(node: OneNode) -> None:
    node.create_topic("orders")

    assert listed(node, ConfigResourceType.TOPIC) == {(ConfigResourceType.TOPIC, "orders")}


def test_version_0_lists_client_metrics(node: OneNode) -> None:
    node.create_topic("orders")
    subscribe(node)

    response = node.send_request(ListConfigResourcesRequest(), 0)

    assert response.config_resources == [ConfigResource(resource_name="subscription")]


def test_a_type_that_cannot_be_listed_is_refused(node: OneNode) -> None:
    response = node.send_request(ListConfigResourcesRequest(resource_types=[2, 99]), 1)

    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert response.config_resources == []
