"""Commits a group's offsets.

Version 7 has the static member's instance id (KIP-345), 9 the member epoch for groups of the
consumer protocol (KIP-848), 10 topic ids instead of names.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
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


class OffsetCommitRequestPartition(Struct):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Int32 = field(default=-1, versions="6+")
    committed_metadata: Text | None = ""


class OffsetCommitRequestTopic(Struct):
    name: TopicName = field(default="", versions="2-9")
    topic_id: TopicId = field(default=ZERO_UUID, versions="10+")
    partitions: list[OffsetCommitRequestPartition] = field(factory=list)


class OffsetCommitRequest(Message, api_key=8, versions="2-10", flexible="8+"):
    group_id: GroupId = ""
    generation_id_or_member_epoch: Int32 = -1
    member_id: Text = ""
    group_instance_id: Text | None = field(default=None, versions="7+")
    retention_time_ms: Int64 = field(default=-1, versions="2-4")
    topics: list[OffsetCommitRequestTopic] = field(factory=list)


class OffsetCommitResponsePartition(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class OffsetCommitResponseTopic(Struct):
    name: TopicName = field(default="", versions="2-9")
    topic_id: TopicId = field(default=ZERO_UUID, versions="10+")
    partitions: list[OffsetCommitResponsePartition] = field(factory=list)


class OffsetCommitResponse(Message, api_key=8, versions="2-10", flexible="8+"):
    throttle_time_ms: Int32 = field(default=0, versions="3+")
    topics: list[OffsetCommitResponseTopic] = field(factory=list)
