"""Describes classic groups and their members.

Version 3 has authorized operations, 4 the instance ids of static members, 6 an error with a message
for groups that do not exist (KIP-1043).
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Bytes, Int16, Int32, Message, String, Struct, field


class DescribeGroupsRequest(Message, api_key=15, versions="0-6", flexible="5+"):
    groups: list[String] = field(factory=list)
    include_authorized_operations: Bool = field(default=False, versions="3+")


class DescribedGroupMember(Struct):
    member_id: String = ""
    group_instance_id: String | None = field(default=None, versions="4+")
    client_id: String = ""
    client_host: String = ""
    member_metadata: Bytes = b""
    member_assignment: Bytes = b""


class DescribedGroup(Struct):
    error_code: Int16 = 0
    error_message: String | None = field(default=None, versions="6+")
    group_id: String = ""
    group_state: String = ""
    protocol_type: String = ""
    protocol_data: String = ""
    members: list[DescribedGroupMember] = field(factory=list)
    authorized_operations: Int32 = field(default=-(2**31), versions="3+")


class DescribeGroupsResponse(Message, api_key=15, versions="0-6", flexible="5+"):
    throttle_time_ms: Int32 = field(default=0, versions="1+")
    groups: list[DescribedGroup] = field(factory=list)
