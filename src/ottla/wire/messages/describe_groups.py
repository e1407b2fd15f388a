"""Describes classic groups and their members.

Version 3 has authorized operations, 4 the instance ids of static members, 6 an error with a message
for groups that do not exist (KIP-1043).
"""

from __future__ import annotations

from ottla.wire.schema import (
    Assignment,
    Bool,
    GroupId,
    Int16,
    Int32,
    Message,
    MessageText,
    Struct,
    Subscription,
    Text,
    field,
)


class DescribeGroupsRequest(Message, api_key=15, versions="0-6", flexible="5+"):
    groups: list[GroupId] = field(factory=list)
    include_authorized_operations: Bool = field(default=False, versions="3+")


class DescribedGroupMember(Struct):
    member_id: Text = ""
    group_instance_id: Text | None = field(default=None, versions="4+")
    client_id: Text = ""
    client_host: Text = ""
    member_metadata: Subscription = b""
    member_assignment: Assignment = b""


class DescribedGroup(Struct):
    error_code: Int16 = 0
    error_message: MessageText | None = field(default=None, versions="6+")
    group_id: GroupId = ""
    group_state: Text = ""
    protocol_type: Text = ""
    protocol_data: Text = ""
    members: list[DescribedGroupMember] = field(factory=list)
    authorized_operations: Int32 = field(default=-(2**31), versions="3+")


class DescribeGroupsResponse(Message, api_key=15, versions="0-6", flexible="5+"):
    throttle_time_ms: Int32 = field(default=0, versions="1+")
    groups: list[DescribedGroup] = field(factory=list)
