from __future__ import annotations

import errno

import pytest

from ottla.model import ErrorCode
from ottla.simulation.disk_faults import Operation
from ottla.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.batches import batch_of
from tests.one_node import OneNode, StartNode


def produce(
    node: OneNode,
    records: bytes | bytearray | None,
    *,
    topic: str = "orders",
    partition: int = 0,
    acks: int = -1,
    version: int = 9,
) -> PartitionProduceResponse:
    request = ProduceRequest(
        acks=acks,
        timeout_ms=1_000,
        topic_data=[
            TopicProduceData(
                name=topic,
                partition_data=[PartitionProduceData(index=partition, records=records)],
            )
        ],
    )
    response = node.ask(request, version)
    assert isinstance(response, ProduceResponse)
    return response.responses[0].partition_responses[0]


def test_each_batch_is_told_its_offset(node: OneNode) -> None:
    node.create_topic("orders")

    assert [produce(node, batch_of(b"a", b"b")).base_offset for _ in range(3)] == [0, 2, 4]


def test_a_retry_is_told_the_offset_of_the_first_try(node: OneNode) -> None:
    node.create_topic("orders")
    batches = [batch_of(b"v", producer_id=9, sequence=number) for number in range(3)]

    offsets = [produce(node, bytes(batch)).base_offset for batch in batches]

    assert produce(node, bytes(batches[1])).base_offset == offsets[1] == 1
    log = node.log("orders", 0)
    assert log.log_end_offset == 3


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"topic": "unknown"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"partition": 7}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"acks": 2}, ErrorCode.INVALID_REQUIRED_ACKS),
    ],
)
def test_what_cannot_be_is_refused(node: OneNode, change: dict[str, int], code: ErrorCode) -> None:
    node.create_topic("orders")

    answer = produce(node, batch_of(b"v"), **change)  # type: ignore[arg-type]

    assert answer.error_code == code
    assert answer.base_offset == -1


def test_a_batch_without_records_is_refused(node: OneNode) -> None:
    node.create_topic("orders")

    assert produce(node, None).error_code == ErrorCode.INVALID_RECORD
    assert produce(node, b"").error_code == ErrorCode.INVALID_RECORD


def test_with_flush_messages_1_the_answer_comes_after_the_sync(node: OneNode) -> None:
    node.create_topic("orders", configs={"flush.messages": "1"})

    assert produce(node, batch_of(b"v")).error_code == 0

    log = node.log("orders", 0)
    assert log.recovery_point == log.log_end_offset == 1


def test_a_sync_that_fails_is_told_and_ends_the_use_of_its_directory(
    start_node: StartNode,
) -> None:
    node = start_node(directories=("/meta", "/data"))
    node.create_topic("orders", partitions=2, configs={"flush.messages": "1"})
    failing, sound = (
        next(index for index in (0, 1) if node.log("orders", index).directory.startswith(path))
        for path in ("/data/", "/meta/")
    )
    node.disk.faults.fail("/data", Operation.SYNC)

    answer = produce(node, batch_of(b"v"), partition=failing)

    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert list(node.broker.logs.failed) == ["/data"]
    again = produce(node, batch_of(b"v"), partition=failing)
    assert again.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert produce(node, batch_of(b"v"), partition=sound).error_code == 0


def test_a_full_disk_is_told_and_the_partition_stays(node: OneNode) -> None:
    node.create_topic("orders")
    node.disk.limit_space(10)

    answer = produce(node, batch_of(b"v" * 1_000))

    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    node.disk.limit_space(None)
    assert produce(node, batch_of(b"v")).base_offset == 0
    assert errno.ENOSPC not in [getattr(error, "errno", None) for error in node.errors]
