"""Adds partitions to a transaction, or verifies that they are in it.

Up to version 3, clients add partitions to their own transaction. From version 4 on, brokers send
requests for many transactions (KIP-890), which may only verify (`verify_only`). With version 5 a
broker adds the partitions of a produce request on behalf of the client.
"""

from __future__ import annotations

from ottla.wire.schema import (
    Bool,
    Int16,
    Int32,
    Int64,
    Message,
    Struct,
    TopicName,
    TransactionalId,
    field,
)


class AddPartitionsToTxnTopic(Struct):
    name: TopicName = ""
    partitions: list[Int32] = field(factory=list)


class AddPartitionsToTxnTransaction(Struct):
    transactional_id: TransactionalId = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    verify_only: Bool = False
    topics: list[AddPartitionsToTxnTopic] = field(factory=list)


class AddPartitionsToTxnRequest(Message, api_key=24, versions="0-5", flexible="3+"):
    transactions: list[AddPartitionsToTxnTransaction] = field(factory=list, versions="4+")
    v3_and_below_transactional_id: TransactionalId = field(default="", versions="0-3")
    v3_and_below_producer_id: Int64 = field(default=0, versions="0-3")
    v3_and_below_producer_epoch: Int16 = field(default=0, versions="0-3")
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(factory=list, versions="0-3")


class AddPartitionsToTxnPartitionResult(Struct):
    partition_index: Int32 = 0
    partition_error_code: Int16 = 0


class AddPartitionsToTxnTopicResult(Struct):
    name: TopicName = ""
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = field(factory=list)


class AddPartitionsToTxnResult(Struct):
    transactional_id: TransactionalId = ""
    topic_results: list[AddPartitionsToTxnTopicResult] = field(factory=list)


class AddPartitionsToTxnResponse(Message, api_key=24, versions="0-5", flexible="3+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = field(default=0, versions="4+")
    results_by_transaction: list[AddPartitionsToTxnResult] = field(factory=list, versions="4+")
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(
        factory=list, versions="0-3"
    )
