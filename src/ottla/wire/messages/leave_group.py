"""Removes members from a classic group.

Version 3 removes several members, also by instance id (KIP-345); 5 has a reason (KIP-800).
"""

from __future__ import annotations

from ottla.wire.schema import GroupId, Int16, Int32, Message, Struct, Text, field


class MemberIdentity(Struct):
    member_id: Text = ""
    group_instance_id: Text | None = None
    reason: Text | None = field(default=None, versions="5+")


class LeaveGroupRequest(Message, api_key=13, versions="0-5", flexible="4+"):
    group_id: GroupId = ""
    member_id: Text = field(default="", versions="0-2")
    members: list[MemberIdentity] = field(factory=list, versions="3+")


class MemberResponse(Struct):
    member_id: Text = ""
    group_instance_id: Text | None = ""
    error_code: Int16 = 0


class LeaveGroupResponse(Message, api_key=13, versions="0-5", flexible="4+"):
    throttle_time_ms: Int32 = field(default=0, versions="1+")
    error_code: Int16 = 0
    members: list[MemberResponse] = field(factory=list, versions="3+")
