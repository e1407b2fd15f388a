from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.simulation import Operation
from ottla.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from tests.support.nodes.one_node import OneNode
from tests.support.storage.batches import batch_of


def grow(node: OneNode, count: int, *, version: int = 3) -> CreatePartitionsTopicResult:
    topic = CreatePartitionsTopic(name="orders", count=count, assignments=None)
    request = CreatePartitionsRequest(topics=[topic])
    result: CreatePartitionsTopicResult = node.send_request(request, version).results[0]
    return result


@pytest.mark.parametrize("version", range(4))
def test_new_partitions_can_be_written_to_when_they_are_acknowledged(
    node: OneNode, version: int
) -> None:
    node.create_topic("orders")

    assert grow(node, 3, version=version).error_code == ErrorCode.NONE
    node.append("orders", batch_of(b"value"), index=2)
    assert node.names() == ["orders-0", "orders-1", "orders-2"]


def test_a_topic_does_not_shrink(node: OneNode) -> None:
    node.create_topic("orders", partitions=2)

    result = grow(node, 1)

    assert result.error_code == ErrorCode.INVALID_PARTITIONS
    assert result.error_message


def test_a_controller_that_cannot_write_makes_nothing(node: OneNode) -> None:
    node.create_topic("orders")
    node.disk.faults.fail("/data/__cluster_metadata-0", Operation.WRITE)

    assert grow(node, 2).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert node.names() == ["orders-0"]
