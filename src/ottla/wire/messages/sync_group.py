"""Submits the leader's assignments, and returns each member's own.

Version 3 has static members (KIP-345), 5 the protocol type and name, which must match the group's
(KIP-559).
"""

from __future__ import annotations

from ottla.wire.schema import Bytes, Int16, Int32, Message, String, Struct, field


class SyncGroupRequestAssignment(Struct):
    member_id: String = ""
    assignment: Bytes = b""


class SyncGroupRequest(Message, api_key=14, versions="0-5", flexible="4+"):
    group_id: String = ""
    generation_id: Int32 = 0
    member_id: String = ""
    group_instance_id: String | None = field(default=None, versions="3+")
    protocol_type: String | None = field(default=None, versions="5+")
    protocol_name: String | None = field(default=None, versions="5+")
    assignments: list[SyncGroupRequestAssignment] = field(factory=list)


class SyncGroupResponse(Message, api_key=14, versions="0-5", flexible="4+"):
    throttle_time_ms: Int32 = field(default=0, versions="1+")
    error_code: Int16 = 0
    protocol_type: String | None = field(default=None, versions="5+")
    protocol_name: String | None = field(default=None, versions="5+")
    assignment: Bytes = b""
