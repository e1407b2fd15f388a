from __future__ import annotations

from ottla.model import ErrorCode
from ottla.wire.messages.describe_producers import (
    DescribeProducersRequest,
    PartitionResponse,
    ProducerState,
    TopicRequest,
)
from tests.support.nodes.one_node import OneNode
from tests.support.storage.batches import batch_of


def describe(node: OneNode, topic: str = "orders") -> PartitionResponse:
    request = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=[0])])
    response: PartitionResponse = node.send_request(request, 0).topics[0].partitions[0]
    return response


def test_idempotent_and_transactional_producers_are_shown(node: OneNode) -> None:
    node.create_topic("orders")
    idempotent = batch_of(b"a", b"b", timestamp=1_000, producer_id=7, sequence=0)
    transactional = batch_of(
        b"c", timestamp=2_000, producer_id=9, producer_epoch=3, sequence=0, is_transactional=True
    )
    node.append("orders", idempotent, transactional)

    assert describe(node).active_producers == [
        ProducerState(
            producer_id=7,
            producer_epoch=0,
            last_sequence=1,
            last_timestamp=1_000,
            coordinator_epoch=-1,
            current_txn_start_offset=-1,
        ),
        ProducerState(
            producer_id=9,
            producer_epoch=3,
            last_sequence=0,
            last_timestamp=2_000,
            coordinator_epoch=-1,
            current_txn_start_offset=2,
        ),
    ]


def test_what_there_is_not_is_refused(node: OneNode) -> None:
    assert describe(node).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert describe(node, "no/topic").error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
