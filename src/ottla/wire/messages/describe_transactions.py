"""Returns the transactions of transactional ids and their partitions (KIP-664)."""

from __future__ import annotations

from ottla.wire.schema import (
    Int16,
    Int32,
    Int64,
    Message,
    Struct,
    Text,
    TopicName,
    TransactionalId,
    field,
)


class DescribeTransactionsRequest(Message, api_key=65, versions="0", flexible="0+"):
    transactional_ids: list[TransactionalId] = field(factory=list)


class TopicData(Struct):
    topic: TopicName = ""
    partitions: list[Int32] = field(factory=list)


class TransactionState(Struct):
    error_code: Int16 = 0
    transactional_id: TransactionalId = ""
    transaction_state: Text = ""
    transaction_timeout_ms: Int32 = 0
    transaction_start_time_ms: Int64 = 0
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    topics: list[TopicData] = field(factory=list)


class DescribeTransactionsResponse(Message, api_key=65, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    transaction_states: list[TransactionState] = field(factory=list)
