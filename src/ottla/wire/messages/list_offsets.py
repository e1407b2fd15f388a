"""Finds the offset for a timestamp, or for a special value such as the earliest or the latest.

Version 4 fences by leader epoch (KIP-320). New special values: 7 the largest timestamp (KIP-734), 8
the local log's start (KIP-405), 9 the last tiered offset (KIP-1005), 11 the earliest offset that is
not uploaded yet (KIP-1023). 10 has a timeout for lookups in remote storage (KIP-1075).
"""

from __future__ import annotations

from ottla.wire.schema import Int8, Int16, Int32, Int64, Message, Struct, TopicName, field


class ListOffsetsPartition(Struct):
    partition_index: Int32 = 0
    current_leader_epoch: Int32 = field(default=-1, versions="4+")
    timestamp: Int64 = 0


class ListOffsetsTopic(Struct):
    name: TopicName = ""
    partitions: list[ListOffsetsPartition] = field(factory=list)


class ListOffsetsRequest(Message, api_key=2, versions="1-11", flexible="6+"):
    replica_id: Int32 = 0
    isolation_level: Int8 = field(default=0, versions="2+")
    topics: list[ListOffsetsTopic] = field(factory=list)
    timeout_ms: Int32 = field(default=0, versions="10+")


class ListOffsetsPartitionResponse(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    timestamp: Int64 = -1
    offset: Int64 = -1
    leader_epoch: Int32 = field(default=-1, versions="4+")


class ListOffsetsTopicResponse(Struct):
    name: TopicName = ""
    partitions: list[ListOffsetsPartitionResponse] = field(factory=list)


class ListOffsetsResponse(Message, api_key=2, versions="1-11", flexible="6+"):
    throttle_time_ms: Int32 = field(default=0, versions="2+")
    topics: list[ListOffsetsTopicResponse] = field(factory=list)
