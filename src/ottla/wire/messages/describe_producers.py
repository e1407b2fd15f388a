"""Returns the active producers of partitions and their open transactions (KIP-664)."""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Int64, Message, MessageText, Struct, TopicName, field


class TopicRequest(Struct):
    name: TopicName = ""
    partition_indexes: list[Int32] = field(factory=list)


class DescribeProducersRequest(Message, api_key=61, versions="0", flexible="0+"):
    topics: list[TopicRequest] = field(factory=list)


class ProducerState(Struct):
    producer_id: Int64 = 0
    producer_epoch: Int32 = 0
    last_sequence: Int32 = -1
    last_timestamp: Int64 = -1
    coordinator_epoch: Int32 = 0
    current_txn_start_offset: Int64 = -1


class PartitionResponse(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    active_producers: list[ProducerState] = field(factory=list)


class TopicResponse(Struct):
    name: TopicName = ""
    partitions: list[PartitionResponse] = field(factory=list)


class DescribeProducersResponse(Message, api_key=61, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    topics: list[TopicResponse] = field(factory=list)
