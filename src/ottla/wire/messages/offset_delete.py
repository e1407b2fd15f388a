"""Deletes committed offsets of a group (KIP-496)."""

from __future__ import annotations

from ottla.wire.schema import GroupId, Int16, Int32, Message, Struct, TopicName, field


class OffsetDeleteRequestPartition(Struct):
    partition_index: Int32 = 0


class OffsetDeleteRequestTopic(Struct):
    name: TopicName = ""
    partitions: list[OffsetDeleteRequestPartition] = field(factory=list)


class OffsetDeleteRequest(Message, api_key=47, versions="0"):
    group_id: GroupId = ""
    topics: list[OffsetDeleteRequestTopic] = field(factory=list)


class OffsetDeleteResponsePartition(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class OffsetDeleteResponseTopic(Struct):
    name: TopicName = ""
    partitions: list[OffsetDeleteResponsePartition] = field(factory=list)


class OffsetDeleteResponse(Message, api_key=47, versions="0"):
    error_code: Int16 = 0
    throttle_time_ms: Int32 = 0
    topics: list[OffsetDeleteResponseTopic] = field(factory=list)
