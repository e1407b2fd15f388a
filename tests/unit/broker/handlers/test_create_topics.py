from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.simulation import Operation
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from tests.support.nodes.one_node import OneNode
from tests.support.storage.batches import batch_of


def create(
    node: OneNode, *topics: CreatableTopic, version: int = 7, validate_only: bool = False
) -> list[CreatableTopicResult]:
    request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    results: list[CreatableTopicResult] = node.send_request(request, version).topics
    return results


def topic(name: str, *, partitions: int = 1, replicas: int = 1, **configs: str) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


@pytest.mark.parametrize("version", range(2, 8))
def test_a_topic_can_be_written_to_when_it_is_acknowledged(node: OneNode, version: int) -> None:
    (result,) = create(node, topic("orders", partitions=3), version=version)

    assert (result.name, result.error_code) == ("orders", ErrorCode.NONE)
    for index in range(3):
        node.append("orders", batch_of(b"value"), index=index)
    if version >= 5:
        assert (result.num_partitions, result.replication_factor) == (3, 1)
    if version >= 7:
        assert node.broker.cluster.image.topics.by_name["orders"].id == result.topic_id


def test_its_configs_reach_its_logs(node: OneNode) -> None:
    (result,) = create(node, topic("orders", retention_ms="1234", cleanup_policy="compact"))

    config = node.log("orders").config
    assert (config.retention_ms, config.compact, config.delete) == (1234, True, False)
    assert result.configs is not None
    assert {each.name: each.value for each in result.configs}["retention.ms"] == "1234"


def test_one_bad_topic_does_not_keep_the_others_from_being_made(node: OneNode) -> None:
    results = {
        result.name: result.error_code
        for result in create(
            node,
            topic("orders"),
            topic("no/topic"),
            topic("many", replicas=3),
            topic("none", partitions=0),
            topic("odd", retention_ms="soon"),
        )
    }

    assert results == {
        "orders": ErrorCode.NONE,
        "no/topic": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "many": ErrorCode.INVALID_REPLICATION_FACTOR,
        "none": ErrorCode.INVALID_PARTITIONS,
        "odd": ErrorCode.INVALID_CONFIG,
    }
    assert list(node.broker.cluster.image.topics.by_name) == ["orders"]


def test_a_topic_that_exists_is_refused_with_a_reason(node: OneNode) -> None:
    node.create_topic("orders")

    (result,) = create(node, topic("orders"))

    assert result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert result.error_message == "Topic 'orders' already exists."


def test_validation_makes_nothing(node: OneNode) -> None:
    (result,) = create(node, topic("orders"), validate_only=True)

    assert result.error_code == ErrorCode.NONE
    assert node.names() == []


def test_a_controller_that_cannot_write_makes_nothing(node: OneNode) -> None:
    node.disk.faults.fail("/data/__cluster_metadata-0", Operation.WRITE)

    (result,) = create(node, topic("orders"))

    assert result.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert node.names() == []
