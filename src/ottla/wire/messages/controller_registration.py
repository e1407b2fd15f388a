"""A controller registers its endpoints and features with the active controller (KIP-919)."""

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
    security_protocol: Int16 = 0


class Feature(Struct):
    name: Text = ""
    min_supported_version: Int16 = 0
    max_supported_version: Int16 = 0


class ControllerRegistrationRequest(Message, api_key=70, versions="0", flexible="0+"):
    controller_id: Int32 = 0
    incarnation_id: Uuid = ZERO_UUID
    zk_migration_ready: Bool = False
    listeners: list[Listener] = field(factory=list)
    features: list[Feature] = field(factory=list)


class ControllerRegistrationResponse(Message, api_key=70, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""
