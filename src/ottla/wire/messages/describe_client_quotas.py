"""Lists the quotas of clients and addresses whose entities match a filter (KIP-546)."""

from __future__ import annotations

from ottla.wire.schema import (
    Bool,
    Float64,
    Int8,
    Int16,
    Int32,
    Message,
    MessageText,
    QuotaEntityName,
    Struct,
    Text,
    field,
)


class ComponentData(Struct):
    entity_type: Text = ""
    match_type: Int8 = 0
    match: QuotaEntityName | None = ""


class DescribeClientQuotasRequest(Message, api_key=48, versions="0-1", flexible="1+"):
    components: list[ComponentData] = field(factory=list)
    strict: Bool = False


class EntityData(Struct):
    entity_type: Text = ""
    entity_name: QuotaEntityName | None = ""


class ValueData(Struct):
    key: Text = ""
    value: Float64 = 0.0


class EntryData(Struct):
    entity: list[EntityData] = field(factory=list)
    values: list[ValueData] = field(factory=list)


class DescribeClientQuotasResponse(Message, api_key=48, versions="0-1", flexible="1+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    entries: list[EntryData] | None = field(factory=list)
