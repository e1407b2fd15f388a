"""Writes record batches to partitions.

Version 8 returns the records that caused a batch to be rejected (KIP-467). 10 returns the current
leader (KIP-951). 11 may return TRANSACTION_ABORTABLE, 12 adds partitions to the transaction
implicitly (both KIP-890). 13 has topic ids instead of names (KIP-516).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Int16,
    Int32,
    Int64,
    Message,
    MessageText,
    Records,
    Struct,
    Text,
    TopicId,
    TopicName,
    TransactionalId,
    field,
)


class PartitionProduceData(Struct):
    index: Int32 = 0
    records: Records | None = None


class TopicProduceData(Struct):
    name: TopicName = field(default="", versions="3-12")
    topic_id: TopicId = field(default=ZERO_UUID, versions="13+")
    partition_data: list[PartitionProduceData] = field(factory=list)


class ProduceRequest(Message, api_key=0, versions="3-13", flexible="9+"):
    transactional_id: TransactionalId | None = None
    acks: Int16 = 0
    timeout_ms: Int32 = 0
    topic_data: list[TopicProduceData] = field(factory=list)


class BatchIndexAndErrorMessage(Struct):
    batch_index: Int32 = 0
    batch_index_error_message: Text | None = None


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class PartitionProduceResponse(Struct):
    index: Int32 = 0
    error_code: Int16 = 0
    base_offset: Int64 = 0
    log_append_time_ms: Int64 = -1
    log_start_offset: Int64 = field(default=-1, versions="5+")
    record_errors: list[BatchIndexAndErrorMessage] = field(factory=list, versions="8+")
    error_message: MessageText | None = field(default=None, versions="8+")
    current_leader: LeaderIdAndEpoch | None = field(
        default=None, versions="10+", nullable="none", tag=0
    )


class TopicProduceResponse(Struct):
    name: TopicName = field(default="", versions="3-12")
    topic_id: TopicId = field(default=ZERO_UUID, versions="13+")
    partition_responses: list[PartitionProduceResponse] = field(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: Text = ""
    port: Int32 = 0
    rack: Text | None = None


class ProduceResponse(Message, api_key=0, versions="3-13", flexible="9+"):
    responses: list[TopicProduceResponse] = field(factory=list)
    throttle_time_ms: Int32 = 0
    node_endpoints: list[NodeEndpoint] = field(factory=list, versions="10+", tag=0)
