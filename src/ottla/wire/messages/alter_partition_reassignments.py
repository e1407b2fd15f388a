"""Moves partitions to other replicas, or cancels such a move (KIP-455).

Version 1 can forbid a change of the replication factor (KIP-860).
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Int16, Int32, Message, MessageText, Struct, TopicName, field


class ReassignablePartition(Struct):
    partition_index: Int32 = 0
    replicas: list[Int32] | None = None


class ReassignableTopic(Struct):
    name: TopicName = ""
    partitions: list[ReassignablePartition] = field(factory=list)


class AlterPartitionReassignmentsRequest(Message, api_key=45, versions="0-1", flexible="0+"):
    timeout_ms: Int32 = 60000
    allow_replication_factor_change: Bool = field(default=True, versions="1+")
    topics: list[ReassignableTopic] = field(factory=list)


class ReassignablePartitionResponse(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""


class ReassignableTopicResponse(Struct):
    name: TopicName = ""
    partitions: list[ReassignablePartitionResponse] = field(factory=list)


class AlterPartitionReassignmentsResponse(Message, api_key=45, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32 = 0
    allow_replication_factor_change: Bool = field(default=True, versions="1+")
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    responses: list[ReassignableTopicResponse] = field(factory=list)
