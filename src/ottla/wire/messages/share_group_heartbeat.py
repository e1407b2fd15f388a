"""ShareGroupHeartbeat (KIP-932): a member joins a share group, stays in it and leaves it.

The first stable version is 1.
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
    field,
)


class ShareGroupHeartbeatRequest(Message, api_key=76, versions="1", flexible="1+"):
    group_id: GroupId = ""
    member_id: Text = ""
    member_epoch: Int32 = 0
    rack_id: Text | None = None
    subscribed_topic_names: list[TopicName] | None = None


class TopicPartitions(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[Int32] = field(factory=list)


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = field(factory=list)


class ShareGroupHeartbeatResponse(Message, api_key=76, versions="1", flexible="1+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    member_id: Text | None = None
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    assignment: Assignment | None = None
