"""Returns the partitions of topics in pages, with their eligible leader replicas (KIP-966)."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Bool, Int16, Int32, Message, Struct, TopicId, TopicName, field


class TopicRequest(Struct):
    name: TopicName = ""


class Cursor(Struct):
    topic_name: TopicName = ""
    partition_index: Int32 = 0


class DescribeTopicPartitionsRequest(Message, api_key=75, versions="0", flexible="0+"):
    topics: list[TopicRequest] = field(factory=list)
    response_partition_limit: Int32 = 2000
    cursor: Cursor | None = None


class DescribeTopicPartitionsResponsePartition(Struct):
    error_code: Int16 = 0
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = -1
    replica_nodes: list[Int32] = field(factory=list)
    isr_nodes: list[Int32] = field(factory=list)
    eligible_leader_replicas: list[Int32] | None = None
    last_known_elr: list[Int32] | None = None
    offline_replicas: list[Int32] = field(factory=list)


class DescribeTopicPartitionsResponseTopic(Struct):
    error_code: Int16 = 0
    name: TopicName | None = ""
    topic_id: TopicId = ZERO_UUID
    is_internal: Bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition] = field(factory=list)
    topic_authorized_operations: Int32 = -(2**31)


class DescribeTopicPartitionsResponse(Message, api_key=75, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    topics: list[DescribeTopicPartitionsResponseTopic] = field(factory=list)
    next_cursor: Cursor | None = None
