"""ShareGroupDescribe (KIP-932): share groups, their members and assignments.

The first stable version is 1.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Bool, Int16, Int32, Message, String, Struct, Uuid, field


class ShareGroupDescribeRequest(Message, api_key=77, versions="1", flexible="1+"):
    group_ids: list[String] = field(factory=list)
    include_authorized_operations: Bool = False


class TopicPartitions(Struct):
    topic_id: Uuid = ZERO_UUID
    topic_name: String = ""
    partitions: list[Int32] = field(factory=list)


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = field(factory=list)


class Member(Struct):
    member_id: String = ""
    rack_id: String | None = None
    member_epoch: Int32 = 0
    client_id: String = ""
    client_host: String = ""
    subscribed_topic_names: list[String] = field(factory=list)
    assignment: Assignment = field(factory=Assignment)


class DescribedGroup(Struct):
    error_code: Int16 = 0
    error_message: String | None = None
    group_id: String = ""
    group_state: String = ""
    group_epoch: Int32 = 0
    assignment_epoch: Int32 = 0
    assignor_name: String = ""
    members: list[Member] = field(factory=list)
    authorized_operations: Int32 = -(2**31)


class ShareGroupDescribeResponse(Message, api_key=77, versions="1", flexible="1+"):
    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup] = field(factory=list)
