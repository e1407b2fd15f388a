"""Adds partitions to topics (KIP-195). Version 3 may return THROTTLING_QUOTA_EXCEEDED (KIP-599)."""

from __future__ import annotations

from ottla.wire.schema import Bool, Int16, Int32, Message, MessageText, Struct, TopicName, field


class CreatePartitionsAssignment(Struct):
    broker_ids: list[Int32] = field(factory=list)


class CreatePartitionsTopic(Struct):
    name: TopicName = ""
    count: Int32 = 0
    assignments: list[CreatePartitionsAssignment] | None = field(factory=list)


class CreatePartitionsRequest(Message, api_key=37, versions="0-3", flexible="2+"):
    topics: list[CreatePartitionsTopic] = field(factory=list)
    timeout_ms: Int32 = 0
    validate_only: Bool = False


class CreatePartitionsTopicResult(Struct):
    name: TopicName = ""
    error_code: Int16 = 0
    error_message: MessageText | None = None


class CreatePartitionsResponse(Message, api_key=37, versions="0-3", flexible="2+"):
    throttle_time_ms: Int32 = 0
    results: list[CreatePartitionsTopicResult] = field(factory=list)
