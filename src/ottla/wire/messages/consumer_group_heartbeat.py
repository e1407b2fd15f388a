"""Joins, stays in and leaves a group of the consumer protocol; returns the assignment (KIP-848).

Version 1 has regular expressions, which the broker resolves, and member ids that clients generate
(KIP-1082).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    GroupId,
    Int16,
    Int32,
    Message,
    MessageText,
    Struct,
    Text,
    TopicId,
    TopicName,
    TopicPattern,
    field,
)


class TopicPartitions(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[Int32] = field(factory=list)


class ConsumerGroupHeartbeatRequest(Message, api_key=68, versions="0-1", flexible="0+"):
    group_id: GroupId = ""
    member_id: Text = ""
    member_epoch: Int32 = 0
    instance_id: Text | None = None
    rack_id: Text | None = None
    rebalance_timeout_ms: Int32 = -1
    subscribed_topic_names: list[TopicName] | None = None
    subscribed_topic_regex: TopicPattern | None = field(default=None, versions="1+")
    server_assignor: Text | None = None
    topic_partitions: list[TopicPartitions] | None = None


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = field(factory=list)


class ConsumerGroupHeartbeatResponse(Message, api_key=68, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    member_id: Text | None = None
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    assignment: Assignment | None = None
