"""DescribeShareGroupOffsets (KIP-932): the start offsets of a share group.

Version 1 adds the lag (KIP-1226).
"""

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


class DescribeShareGroupOffsetsRequestTopic(Struct):
    topic_name: TopicName = ""
    partitions: list[Int32] = field(factory=list)


class DescribeShareGroupOffsetsRequestGroup(Struct):
    group_id: GroupId = ""
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = field(factory=list)


class DescribeShareGroupOffsetsRequest(Message, api_key=90, versions="0-1", flexible="0+"):
    groups: list[DescribeShareGroupOffsetsRequestGroup] = field(factory=list)


class DescribeShareGroupOffsetsResponsePartition(Struct):
    partition_index: Int32 = 0
    start_offset: Int64 = 0
    leader_epoch: Int32 = 0
    lag: Int64 = field(default=-1, versions="1+")
    error_code: Int16 = 0
    error_message: MessageText | None = None


class DescribeShareGroupOffsetsResponseTopic(Struct):
    topic_name: TopicName = ""
    topic_id: TopicId = ZERO_UUID
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = field(factory=list)


class DescribeShareGroupOffsetsResponseGroup(Struct):
    group_id: GroupId = ""
    topics: list[DescribeShareGroupOffsetsResponseTopic] = field(factory=list)
    error_code: Int16 = 0
    error_message: MessageText | None = None


class DescribeShareGroupOffsetsResponse(Message, api_key=90, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32 = 0
    groups: list[DescribeShareGroupOffsetsResponseGroup] = field(factory=list)
