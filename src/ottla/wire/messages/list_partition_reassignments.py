"""Lists ongoing partition reassignments (KIP-455)."""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Message, MessageText, Struct, TopicName, field


class ListPartitionReassignmentsTopics(Struct):
    name: TopicName = ""
    partition_indexes: list[Int32] = field(factory=list)


class ListPartitionReassignmentsRequest(Message, api_key=46, versions="0", flexible="0+"):
    timeout_ms: Int32 = 60000
    topics: list[ListPartitionReassignmentsTopics] | None = None


class OngoingPartitionReassignment(Struct):
    partition_index: Int32 = 0
    replicas: list[Int32] = field(factory=list)
    adding_replicas: list[Int32] = field(factory=list)
    removing_replicas: list[Int32] = field(factory=list)


class OngoingTopicReassignment(Struct):
    name: TopicName = ""
    partitions: list[OngoingPartitionReassignment] = field(factory=list)


class ListPartitionReassignmentsResponse(Message, api_key=46, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    topics: list[OngoingTopicReassignment] = field(factory=list)
