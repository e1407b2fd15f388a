"""Returns the end offset of a leader epoch, to truncate diverged logs (KIP-101, KIP-279).

Version 2 fences by leader epoch (KIP-320). 3 has the replica id of the sender: consumers get no
offset above the high watermark.
"""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Int64, Message, Struct, TopicName, field


class OffsetForLeaderPartition(Struct):
    partition: Int32 = 0
    current_leader_epoch: Int32 = -1
    leader_epoch: Int32 = 0


class OffsetForLeaderTopic(Struct):
    topic: TopicName = ""
    partitions: list[OffsetForLeaderPartition] = field(factory=list)


class OffsetForLeaderEpochRequest(Message, api_key=23, versions="2-4", flexible="4+"):
    replica_id: Int32 = field(default=-2, versions="3+")
    topics: list[OffsetForLeaderTopic] = field(factory=list)


class EpochEndOffset(Struct):
    error_code: Int16 = 0
    partition: Int32 = 0
    leader_epoch: Int32 = -1
    end_offset: Int64 = -1


class OffsetForLeaderTopicResult(Struct):
    topic: TopicName = ""
    partitions: list[EpochEndOffset] = field(factory=list)


class OffsetForLeaderEpochResponse(Message, api_key=23, versions="2-4", flexible="4+"):
    throttle_time_ms: Int32 = 0
    topics: list[OffsetForLeaderTopicResult] = field(factory=list)
