"""Removes a voter from the metadata quorum (KIP-853)."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int16, Int32, Message, MessageText, Text, Uuid


class RemoveRaftVoterRequest(Message, api_key=81, versions="0", flexible="0+"):
    cluster_id: Text | None = ""
    voter_id: Int32 = 0
    voter_directory_id: Uuid = ZERO_UUID


class RemoveRaftVoterResponse(Message, api_key=81, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""
