"""Classic groups in `__consumer_offsets`: one record with all members and their assignments.

Version 3 has static members (KIP-345).
"""

from __future__ import annotations

from ottla.wire.schema import Bytes, Int32, Int64, Message, String, Struct, field


class GroupMetadataKey(Message, api_key=2, versions="0"):
    group: String = ""


class MemberMetadata(Struct):
    member_id: String = ""
    group_instance_id: String | None = field(default=None, versions="3+")
    client_id: String = ""
    client_host: String = ""
    rebalance_timeout: Int32 = field(default=-1, versions="1+")
    session_timeout: Int32 = 0
    subscription: Bytes = b""
    assignment: Bytes = b""


class GroupMetadataValue(Message, api_key=2, versions="0-4", flexible="4+"):
    protocol_type: String = ""
    generation: Int32 = 0
    protocol: String | None = ""
    leader: String | None = ""
    current_state_timestamp: Int64 = field(default=-1, versions="2+")
    members: list[MemberMetadata] = field(factory=list)
