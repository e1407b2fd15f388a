"""Finds the broker that coordinates a group, a transactional id or a share partition.

Version 4 has several keys per request (KIP-699). 5 may return TRANSACTION_ABORTABLE (KIP-890). 6
adds the key type for share partitions (KIP-932).
"""

from __future__ import annotations

from ottla.wire.schema import (
    CoordinatorKey,
    Int8,
    Int16,
    Int32,
    Message,
    MessageText,
    Struct,
    Text,
    field,
)


class FindCoordinatorRequest(Message, api_key=10, versions="0-6", flexible="3+"):
    key: CoordinatorKey = field(default="", versions="0-3")
    key_type: Int8 = field(default=0, versions="1+")
    coordinator_keys: list[CoordinatorKey] = field(factory=list, versions="4+")


class Coordinator(Struct):
    key: CoordinatorKey = ""
    node_id: Int32 = 0
    host: Text = ""
    port: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""


class FindCoordinatorResponse(Message, api_key=10, versions="0-6", flexible="3+"):
    throttle_time_ms: Int32 = field(default=0, versions="1+")
    error_code: Int16 = field(default=0, versions="0-3")
    error_message: MessageText | None = field(default="", versions="1-3")
    node_id: Int32 = field(default=0, versions="0-3")
    host: Text = field(default="", versions="0-3")
    port: Int32 = field(default=0, versions="0-3")
    coordinators: list[Coordinator] = field(factory=list, versions="4+")
