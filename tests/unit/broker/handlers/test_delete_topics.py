from __future__ import annotations

import pytest

from ottla.model import ErrorCode, Uuid
from ottla.simulation import Operation
from ottla.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import batch_of


def delete(
    node: OneNode, *names: str, ids: tuple[Uuid, ...] = (), version: int = 6
) -> list[DeletableTopicResult]:
    if version < 6:
        request = DeleteTopicsRequest(topic_names=list(names))
    else:
        states = [DeleteTopicState(name=name) for name in names]
        states += [DeleteTopicState(topic_id=each) for each in ids]
        request = DeleteTopicsRequest(topics=states)
    results: list[DeletableTopicResult] = node.send_request(request, version).responses
    return results


@pytest.mark.parametrize("version", range(1, 7))
def test_a_deleted_topic_is_gone_with_its_files(node: OneNode, version: int) -> None:
    node.create_topic("orders", partitions=2)
    node.create_topic("payments")

    (result,) = delete(node, "orders", version=version)

    assert (result.name, result.error_code) == ("orders", ErrorCode.NONE)
    assert node.names() == ["payments-0"]
    assert [partition.name.topic for partition in node.broker.partitions] == ["payments"]


def test_topics_are_deleted_by_id(node: OneNode) -> None:
    topic_id = node.create_topic("orders")
    unknown = Uuid(b"?" * 16)

    results = {result.topic_id: result for result in delete(node, ids=(topic_id, unknown))}

    assert (results[topic_id].name, results[topic_id].error_code) == ("orders", ErrorCode.NONE)
    assert results[unknown].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_an_unknown_topic_is_reported(node: OneNode) -> None:
    (result,) = delete(node, "orders")

    assert result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_made_again_begins_anew(node: OneNode) -> None:
    before = node.create_topic("orders")
    node.append("orders", batch_of(b"value"))
    delete(node, "orders")

    after = node.create_topic("orders")

    assert before != after
    assert node.log("orders").log_end_offset == 0


@pytest.mark.parametrize(
    ("version", "error"), [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)]
)
def test_deletion_can_be_switched_off(
    version: int, error: ErrorCode, start_node: StartNode
) -> None:
    node = start_node(configs={"delete.topic.enable": "false"})
    node.create_topic("orders")

    (result,) = delete(node, "orders", version=version)
    names = node.names()

    assert result.error_code == error
    assert names == ["orders-0"]


def test_a_controller_that_cannot_write_deletes_nothing(node: OneNode) -> None:
    node.create_topic("orders")
    node.disk.faults.fail("/data/__cluster_metadata-0", Operation.WRITE)

    (result,) = delete(node, "orders")

    assert result.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert node.names() == ["orders-0"]
