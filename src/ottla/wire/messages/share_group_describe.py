"""ShareGroupDescribe (KIP-932): share groups, their members and assignments.

The first stable version is 1.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Bool,
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


class ShareGroupDescribeRequest(Message, api_key=77, versions="1", flexible="1+"):
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
    rack_id: Text | None = None
    member_epoch: Int32 = 0
    client_id: Text = ""
    client_host: Text = ""
    subscribed_topic_names: list[TopicName] = field(factory=list)
    assignment: Assignment = field(factory=Assignment)


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


class ShareGroupDescribeResponse(Message, api_key=77, versions="1", flexible="1+"):
    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup] = field(factory=list)
