"""Adds a voter to the metadata quorum (KIP-853).

With version 1 the response may be sent before the change is committed (KIP-1186).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Bool,
    Int16,
    Int32,
    Message,
    MessageText,
    Struct,
    Text,
    Uint16,
    Uuid,
    field,
)


class Listener(Struct):
    name: Text = ""
    host: Text = ""
    port: Uint16 = 0


class AddRaftVoterRequest(Message, api_key=80, versions="0-1", flexible="0+"):
    cluster_id: Text | None = ""
    timeout_ms: Int32 = 0
    voter_id: Int32 = 0
    voter_directory_id: Uuid = ZERO_UUID
    listeners: list[Listener] = field(factory=list)
    ack_when_committed: Bool = field(default=True, versions="1+")


class AddRaftVoterResponse(Message, api_key=80, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""
