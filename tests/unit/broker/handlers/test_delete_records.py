from __future__ import annotations

import errno

import pytest

from ottla.model import ErrorCode
from ottla.simulation import Operation, SeededDice
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import batch_of

HIGH_WATERMARK = -1


def delete(
    node: OneNode, offset: int, *, topic: str = "orders", version: int = 2
) -> DeleteRecordsPartitionResult:
    requested = DeleteRecordsPartition(partition_index=0, offset=offset)
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=[requested])])
    result: DeleteRecordsPartitionResult = (
        node.send_request(request, version).topics[0].partitions[0]
    )
    return result


def with_records(node: OneNode, *, count: int = 5, policy: str = "delete") -> None:
    node.create_topic("orders", configs={"cleanup.policy": policy})
    node.append("orders", *(batch_of(b"value", key=b"key") for _ in range(count)))


@pytest.mark.parametrize("version", range(3))
def test_the_log_starts_at_the_offset(node: OneNode, version: int) -> None:
    with_records(node)

    result = delete(node, 3, version=version)

    assert (result.error_code, result.low_watermark) == (ErrorCode.NONE, 3)
    assert node.log("orders").log_start_offset == 3


def test_minus_one_stands_for_everything_committed(node: OneNode) -> None:
    with_records(node)

    assert delete(node, HIGH_WATERMARK).low_watermark == 5


def test_an_offset_before_the_start_changes_nothing(node: OneNode) -> None:
    with_records(node)
    delete(node, 3)

    assert delete(node, 1).low_watermark == 3


@pytest.mark.parametrize("offset", [6, -2])
def test_an_offset_that_there_is_not_is_refused(node: OneNode, offset: int) -> None:
    with_records(node)

    result = delete(node, offset)

    assert (result.error_code, result.low_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert node.log("orders").log_start_offset == 0


def test_records_of_a_compacted_topic_are_not_deleted(node: OneNode) -> None:
    with_records(node, policy="compact")

    assert delete(node, 1).error_code == ErrorCode.POLICY_VIOLATION


def test_records_of_a_topic_that_is_compacted_and_deleted_from_are(node: OneNode) -> None:
    with_records(node, policy="compact,delete")

    assert delete(node, 1).error_code == ErrorCode.NONE


def test_internal_and_unknown_topics_are_refused(node: OneNode) -> None:
    node.create_topic("__consumer_offsets", configs={"cleanup.policy": "compact"})

    assert delete(node, 0, topic="__consumer_offsets").error_code == (
        ErrorCode.INVALID_TOPIC_EXCEPTION
    )
    assert delete(node, 0).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("seed", range(10))
def test_what_was_deleted_stays_deleted_when_the_power_fails(
    seed: int, start_node: StartNode
) -> None:
    node = start_node()
    with_records(node)
    delete(node, 4)
    node.abandon()
    node.disk.crash(SeededDice(seed))

    node = start_node(node.disk)
    start = node.log("orders").log_start_offset

    assert start == 4


def test_a_deletion_that_is_not_durable_is_not_acknowledged(node: OneNode) -> None:
    with_records(node)
    node.disk.faults.fail("/data/log-start-offset-checkpoint.tmp", Operation.WRITE)

    result = delete(node, 4)

    assert (result.error_code, result.low_watermark) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)
    assert "/data" in node.broker.logs.failed


def test_a_full_disk_refuses_and_goes_on(node: OneNode) -> None:
    with_records(node)
    path = "/data/log-start-offset-checkpoint.tmp"
    node.disk.faults.fail(path, Operation.WRITE, error=errno.ENOSPC)

    assert delete(node, 4).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    node.disk.faults.heal(path)
    assert delete(node, 4).low_watermark == 4
