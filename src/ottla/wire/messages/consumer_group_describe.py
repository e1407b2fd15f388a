"""Describes groups of the consumer protocol and their members (KIP-848).

Version 1 has the members' types, classic or consumer (KIP-1099).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Bool,
    GroupId,
    Int8,
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


class ConsumerGroupDescribeRequest(Message, api_key=69, versions="0-1", flexible="0+"):
    group_ids: list[GroupId] = field(factory=list)
    include_authorized_operations: Bool = False


class TopicPartitions(Struct):
    topic_id: TopicId = ZERO_UUID
    topic_name: TopicName = ""
    partitions: list[Int32] = field(factory=list)


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = field(factory=list)


class Member(Struct):
    member_id: Text = ""
    instance_id: Text | None = None
    rack_id: Text | None = None
    member_epoch: Int32 = 0
    client_id: Text = ""
    client_host: Text = ""
    subscribed_topic_names: list[TopicName] = field(factory=list)
    subscribed_topic_regex: TopicPattern | None = None
    assignment: Assignment = field(factory=Assignment)
    target_assignment: Assignment = field(factory=Assignment)
    member_type: Int8 = field(default=-1, versions="1+")


class DescribedGroup(Struct):
    error_code: Int16 = 0
    error_message: MessageText | None = None
    group_id: GroupId = ""
    group_state: Text = ""
    group_epoch: Int32 = 0
    assignment_epoch: Int32 = 0
    assignor_name: Text = ""
    members: list[Member] = field(factory=list)
    authorized_operations: Int32 = -(2**31)


class ConsumerGroupDescribeResponse(Message, api_key=69, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup] = field(factory=list)
