"""Advances the log start offset of partitions (KIP-107)."""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Int64, Message, Struct, TopicName, field


class DeleteRecordsPartition(Struct):
    partition_index: Int32 = 0
    offset: Int64 = 0


class DeleteRecordsTopic(Struct):
    name: TopicName = ""
    partitions: list[DeleteRecordsPartition] = field(factory=list)


class DeleteRecordsRequest(Message, api_key=21, versions="0-2", flexible="2+"):
    topics: list[DeleteRecordsTopic] = field(factory=list)
    timeout_ms: Int32 = 0


class DeleteRecordsPartitionResult(Struct):
    partition_index: Int32 = 0
    low_watermark: Int64 = 0
    error_code: Int16 = 0


class DeleteRecordsTopicResult(Struct):
    name: TopicName = ""
    partitions: list[DeleteRecordsPartitionResult] = field(factory=list)


class DeleteRecordsResponse(Message, api_key=21, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32 = 0
    topics: list[DeleteRecordsTopicResult] = field(factory=list)
