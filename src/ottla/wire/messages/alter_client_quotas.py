"""Sets and removes the quotas of clients and addresses (KIP-546, KIP-612)."""

from __future__ import annotations

from ottla.wire.schema import (
    Bool,
    Float64,
    Int16,
    Int32,
    Message,
    MessageText,
    QuotaEntityName,
    Struct,
    Text,
    field,
)


class EntityData(Struct):
    entity_type: Text = ""
    entity_name: QuotaEntityName | None = ""


class OpData(Struct):
    key: Text = ""
    value: Float64 = 0.0
    remove: Bool = False


class AlterClientQuotasRequestEntryData(Struct):
    entity: list[EntityData] = field(factory=list)
    ops: list[OpData] = field(factory=list)


class AlterClientQuotasRequest(Message, api_key=49, versions="0-1", flexible="1+"):
    entries: list[AlterClientQuotasRequestEntryData] = field(factory=list)
    validate_only: Bool = False


class AlterClientQuotasResponseEntryData(Struct):
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    entity: list[EntityData] = field(factory=list)


class AlterClientQuotasResponse(Message, api_key=49, versions="0-1", flexible="1+"):
    throttle_time_ms: Int32 = 0
    entries: list[AlterClientQuotasResponseEntryData] = field(factory=list)
