"""Joins a classic group or its next generation.

Version 1 has the rebalance timeout, 4 gives a member its id before it joins (KIP-394), 5 has static
members (KIP-345), 7 the protocol type in the response (KIP-559), 8 a reason (KIP-800), 9 tells the
leader whether to skip the assignment (KIP-814).
"""

from __future__ import annotations

from ottla.wire.schema import (
    Bool,
    GroupId,
    Int16,
    Int32,
    Message,
    Struct,
    Subscription,
    Text,
    field,
)


class JoinGroupRequestProtocol(Struct):
    name: Text = ""
    metadata: Subscription = b""


class JoinGroupRequest(Message, api_key=11, versions="0-9", flexible="6+"):
    group_id: GroupId = ""
    session_timeout_ms: Int32 = 0
    rebalance_timeout_ms: Int32 = field(default=-1, versions="1+")
    member_id: Text = ""
    group_instance_id: Text | None = field(default=None, versions="5+")
    protocol_type: Text = ""
    protocols: list[JoinGroupRequestProtocol] = field(factory=list)
    reason: Text | None = field(default=None, versions="8+")


class JoinGroupResponseMember(Struct):
    member_id: Text = ""
    group_instance_id: Text | None = field(default=None, versions="5+")
    metadata: Subscription = b""


class JoinGroupResponse(Message, api_key=11, versions="0-9", flexible="6+"):
    throttle_time_ms: Int32 = field(default=0, versions="2+")
    error_code: Int16 = 0
    generation_id: Int32 = -1
    protocol_type: Text | None = field(default=None, versions="7+")
    protocol_name: Text | None = field(default="", nullable="7+")
    leader: Text = ""
    skip_assignment: Bool = field(default=False, versions="9+")
    member_id: Text = ""
    members: list[JoinGroupResponseMember] = field(factory=list)
