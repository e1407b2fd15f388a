"""Returns the committed offsets of groups.

Version 2 can request all partitions and has a top-level error, 5 has the leader epoch, 7 can
require stable offsets, without pending transactions (KIP-447). 8 has several groups (KIP-709), 9
the member id and epoch for groups of the consumer protocol (KIP-848), 10 topic ids instead of
names.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Bool,
    GroupId,
    Int16,
    Int32,
    Int64,
    Message,
    Struct,
    Text,
    TopicId,
    TopicName,
    field,
)


class OffsetFetchRequestTopic(Struct):
    name: TopicName = ""
    partition_indexes: list[Int32] = field(factory=list)


class OffsetFetchRequestTopics(Struct):
    name: TopicName = field(default="", versions="8-9")
    topic_id: TopicId = field(default=ZERO_UUID, versions="10+")
    partition_indexes: list[Int32] = field(factory=list)


class OffsetFetchRequestGroup(Struct):
    group_id: GroupId = ""
    member_id: Text | None = field(default=None, versions="9+")
    member_epoch: Int32 = field(default=-1, versions="9+")
    topics: list[OffsetFetchRequestTopics] | None = field(factory=list)


class OffsetFetchRequest(Message, api_key=9, versions="1-10", flexible="6+"):
    group_id: GroupId = field(default="", versions="1-7")
    topics: list[OffsetFetchRequestTopic] | None = field(
        factory=list, versions="1-7", nullable="2-7"
    )
    groups: list[OffsetFetchRequestGroup] = field(factory=list, versions="8+")
    require_stable: Bool = field(default=False, versions="7+")


class OffsetFetchResponsePartitions(Struct):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Int32 = field(default=-1, versions="5+")
    metadata: Text | None = ""
    error_code: Int16 = 0


class OffsetFetchResponseTopic(Struct):
    name: TopicName = ""
    partitions: list[OffsetFetchResponsePartitions] = field(factory=list)


class OffsetFetchResponseTopics(Struct):
    name: TopicName = field(default="", versions="8-9")
    topic_id: TopicId = field(default=ZERO_UUID, versions="10+")
    partitions: list[OffsetFetchResponsePartitions] = field(factory=list)


class OffsetFetchResponseGroup(Struct):
    group_id: GroupId = ""
    topics: list[OffsetFetchResponseTopics] = field(factory=list)
    error_code: Int16 = 0


class OffsetFetchResponse(Message, api_key=9, versions="1-10", flexible="6+"):
    throttle_time_ms: Int32 = field(default=0, versions="3+")
    topics: list[OffsetFetchResponseTopic] = field(factory=list, versions="1-7")
    error_code: Int16 = field(default=0, versions="2-7")
    groups: list[OffsetFetchResponseGroup] = field(factory=list, versions="8+")
