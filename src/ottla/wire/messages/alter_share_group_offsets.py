"""AlterShareGroupOffsets (KIP-932): sets the start offsets of a share group without members."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    GroupId,
    Int16,
    Int32,
    Int64,
    Message,
    MessageText,
    Struct,
    TopicId,
    TopicName,
    field,
)


class AlterShareGroupOffsetsRequestPartition(Struct):
    partition_index: Int32 = 0
    start_offset: Int64 = 0


class AlterShareGroupOffsetsRequestTopic(Struct):
    topic_name: TopicName = ""
    partitions: list[AlterShareGroupOffsetsRequestPartition] = field(factory=list)


class AlterShareGroupOffsetsRequest(Message, api_key=91, versions="0", flexible="0+"):
    group_id: GroupId = ""
    topics: list[AlterShareGroupOffsetsRequestTopic] = field(factory=list)


class AlterShareGroupOffsetsResponsePartition(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None


class AlterShareGroupOffsetsResponseTopic(Struct):
    topic_name: TopicName = ""
    topic_id: TopicId = ZERO_UUID
    partitions: list[AlterShareGroupOffsetsResponsePartition] = field(factory=list)


class AlterShareGroupOffsetsResponse(Message, api_key=91, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    responses: list[AlterShareGroupOffsetsResponseTopic] = field(factory=list)
