from __future__ import annotations

import errno

import pytest

from ottla.model import ErrorCode, Offset, TimestampMs
from ottla.simulation.disk.disk_faults import Operation
from ottla.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.record import Record
from tests.support.coordinator.transaction_coordinator import ScriptedCoordinator
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import GARBAGE_BODIES, batch_around, batch_of, compressed_around


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
    response = node.send_request(request, version)
    assert isinstance(response, ProduceResponse)
    return response.responses[0].partition_responses[0]


def test_each_batch_gets_its_offset(node: OneNode) -> None:
    node.create_topic("orders")

    assert [produce(node, batch_of(b"a", b"b")).base_offset for _ in range(3)] == [0, 2, 4]


def test_a_retry_returns_the_offset_of_the_first_attempt(node: OneNode) -> None:
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


@pytest.mark.parametrize(
    "topic", ["__consumer_offsets", "__transaction_state", "__share_group_state"]
)
@pytest.mark.parametrize("version", [9, 12, 13])
@pytest.mark.parametrize("transactional_id", [None, "copier"])
def test_clients_cannot_append_to_internal_topics(
    node: OneNode, topic: str, version: int, transactional_id: str | None
) -> None:
    ScriptedCoordinator(node)
    if topic not in node.image.topics.by_name:
        node.create_topic(topic, configs={"cleanup.policy": "compact"})
    topic_id = node.image.topics.by_name[topic].id
    records = batch_of(
        b"v", producer_id=7, producer_epoch=0, sequence=0, is_transactional=bool(transactional_id)
    )
    data = [PartitionProduceData(index=0, records=records)]
    request = ProduceRequest(
        transactional_id=transactional_id,
        acks=-1,
        timeout_ms=1_000,
        topic_data=[TopicProduceData(name=topic, topic_id=topic_id, partition_data=data)],
    )

    answer = node.send_request(request, version).responses[0].partition_responses[0]

    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert answer.error_message == f"Cannot append to internal topic {topic}"
    assert node.log(topic).log_end_offset == 0


def test_clients_cannot_append_to_the_metadata_log(node: OneNode) -> None:
    answer = produce(node, batch_of(b"v"), topic="__cluster_metadata")

    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_refused_internal_topic_keeps_no_other_batch_out(node: OneNode) -> None:
    node.create_topic("orders")
    names = ("__consumer_offsets", "orders")
    topics = [
        TopicProduceData(name=name, partition_data=[PartitionProduceData(records=batch_of(b"v"))])
        for name in names
    ]

    response = node.send_request(ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=topics), 9)

    codes = [each.partition_responses[0].error_code for each in response.responses]
    assert codes == [ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.NONE]


def test_a_batch_without_records_is_refused(node: OneNode) -> None:
    node.create_topic("orders")

    assert produce(node, None).error_code == ErrorCode.INVALID_RECORD
    assert produce(node, b"").error_code == ErrorCode.INVALID_RECORD


def test_with_flush_messages_1_the_answer_comes_after_the_sync(node: OneNode) -> None:
    node.create_topic("orders", configs={"flush.messages": "1"})

    assert produce(node, batch_of(b"v")).error_code == 0

    log = node.log("orders", 0)
    assert log.recovery_point == log.log_end_offset == 1


def test_a_failed_sync_is_reported_and_takes_its_directory_offline(
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


def test_a_full_disk_is_reported_and_the_partition_stays_online(node: OneNode) -> None:
    node.create_topic("orders")
    node.disk.limit_space(10)

    answer = produce(node, batch_of(b"v" * 1_000))

    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    node.disk.limit_space(None)
    assert produce(node, batch_of(b"v")).base_offset == 0
    assert errno.ENOSPC not in [getattr(error, "errno", None) for error in node.errors]


# ---- records that are refused (KIP-467)


def keyed(*keys: bytes | None) -> bytearray:
    return build_batch(
        [Record(Offset(number), TimestampMs(1_000), key, b"v") for number, key in enumerate(keys)]
    )


@pytest.mark.parametrize("version", [3, 7, 8, 9, 12])
def test_the_records_without_a_key_are_named(node: OneNode, version: int) -> None:
    node.create_topic("prices", configs={"cleanup.policy": "compact"})

    answer = produce(node, keyed(b"k", None, b"k", None), topic="prices", version=version)

    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert answer.base_offset == -1
    named = [1, 3] if version >= 8 else []
    assert [each.batch_index for each in answer.record_errors] == named
    if version >= 8:
        assert "needs a key" in (answer.record_errors[0].batch_index_error_message or "")
        assert "record 1" in (answer.error_message or "")
    assert node.log("prices").log_end_offset == 0


@pytest.mark.parametrize("version", [5, 9])
def test_answers_have_the_log_start_offset(node: OneNode, version: int) -> None:
    node.create_topic("prices", configs={"cleanup.policy": "compact,delete"})
    for _ in range(3):
        assert produce(node, keyed(b"k"), topic="prices", version=version).log_start_offset == 0
    node.log("prices").delete_records_before(2)

    taken = produce(node, keyed(b"k"), topic="prices", version=version)
    refused = produce(node, keyed(None), topic="prices", version=version)
    unknown = produce(node, keyed(b"k"), topic="unknown", version=version)

    assert (taken.error_code, taken.log_start_offset) == (0, 2)
    assert (refused.error_code, refused.log_start_offset) == (ErrorCode.INVALID_RECORD, 2)
    assert unknown.log_start_offset == -1


def test_a_malformed_record_is_named_where_records_are_validated(node: OneNode) -> None:
    node.create_topic("orders", configs={"ottla.record.validation": "record"})
    body, index = GARBAGE_BODIES["a value beyond the record"]
    batch = compressed_around(body, codec=Codec.ZSTD, count=2)

    answer = produce(node, batch)

    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [each.batch_index for each in answer.record_errors] == [index]
    assert produce(node, batch_of(b"v")).error_code == 0


def test_a_node_can_validate_the_records_of_all_topics_but_one(start_node: StartNode) -> None:
    node = start_node(configs={"ottla.record.validation": "record"})
    node.create_topic("orders")
    node.create_topic("fast", configs={"ottla.record.validation": "batch"})
    garbage = batch_around(b"garbage")

    assert produce(node, garbage).error_code == ErrorCode.INVALID_RECORD
    assert produce(node, garbage, topic="fast").error_code == 0
