"""Keeps a member of a classic group alive; the response says whether it has to rejoin.

Version 3 has static members (KIP-345).
"""

from __future__ import annotations

from ottla.wire.schema import GroupId, Int16, Int32, Message, Text, field


class HeartbeatRequest(Message, api_key=12, versions="0-4", flexible="4+"):
    group_id: GroupId = ""
    generation_id: Int32 = 0
    member_id: Text = ""
    group_instance_id: Text | None = field(default=None, versions="3+")


class HeartbeatResponse(Message, api_key=12, versions="0-4", flexible="4+"):
    throttle_time_ms: Int32 = field(default=0, versions="1+")
    error_code: Int16 = 0
