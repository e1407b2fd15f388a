"""Submits the leader's assignments, and returns each member's own.

Version 3 has static members (KIP-345), 5 the protocol type and name, which must match the group's
(KIP-559).
"""

from __future__ import annotations

from ottla.wire.schema import Assignment, GroupId, Int16, Int32, Message, Struct, Text, field


class SyncGroupRequestAssignment(Struct):
    member_id: Text = ""
    assignment: Assignment = b""


class SyncGroupRequest(Message, api_key=14, versions="0-5", flexible="4+"):
    group_id: GroupId = ""
    generation_id: Int32 = 0
    member_id: Text = ""
    group_instance_id: Text | None = field(default=None, versions="3+")
    protocol_type: Text | None = field(default=None, versions="5+")
    protocol_name: Text | None = field(default=None, versions="5+")
    assignments: list[SyncGroupRequestAssignment] = field(factory=list)


class SyncGroupResponse(Message, api_key=14, versions="0-5", flexible="4+"):
    throttle_time_ms: Int32 = field(default=0, versions="1+")
    error_code: Int16 = 0
    protocol_type: Text | None = field(default=None, versions="5+")
    protocol_name: Text | None = field(default=None, versions="5+")
    assignment: Assignment = b""
