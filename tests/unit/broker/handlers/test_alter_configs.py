from __future__ import annotations

import pytest

from ottla.configs import ConfigResourceType
from ottla.model import ErrorCode
from ottla.wire.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
)
from tests.support.nodes.one_node import NODE_ID, OneNode


def resource(kind: ConfigResourceType, name: str, **configs: str) -> AlterConfigsResource:
    return AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def alter(
    node: OneNode, *resources: AlterConfigsResource, version: int = 2
) -> list[AlterConfigsResourceResponse]:
    request = AlterConfigsRequest(resources=list(resources))
    responses: list[AlterConfigsResourceResponse] = node.send_request(request, version).responses
    return responses


@pytest.mark.parametrize("version", range(3))
def test_configs_replace_all_that_were_set(node: OneNode, version: int) -> None:
    node.create_topic("orders", configs={"retention.ms": "99"})
    replaced = resource(ConfigResourceType.TOPIC, "orders", max_message_bytes="2000")

    (response,) = alter(node, replaced, version=version)

    assert response.error_code == ErrorCode.NONE
    config = node.log("orders").config
    assert (config.max_message_bytes, config.retention_ms) == (2000, 604_800_000)


def test_answers_come_in_the_order_of_the_resources(node: OneNode) -> None:
    responses = alter(
        node,
        resource(ConfigResourceType.BROKER, "7", log_retention_ms="1"),
        resource(ConfigResourceType.TOPIC, "users"),
        resource(ConfigResourceType.BROKER_LOGGER, str(NODE_ID), root="INFO"),
        resource(ConfigResourceType.BROKER, str(NODE_ID), log_retention_ms="77"),
    )

    assert [(each.resource_name, each.error_code) for each in responses] == [
        ("7", ErrorCode.INVALID_REQUEST),
        ("users", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (str(NODE_ID), ErrorCode.INVALID_REQUEST),
        (str(NODE_ID), ErrorCode.NONE),
    ]
    assert node.broker.config["log.retention.ms"] == 77
