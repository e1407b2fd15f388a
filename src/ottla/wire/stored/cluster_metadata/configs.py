"""Configs of topics, brokers and the cluster, and client quotas. A null value removes a config."""

from __future__ import annotations

from ottla.wire.schema import Bool, Float64, Int8, Message, String, Struct, field


class ConfigRecord(Message, api_key=4, versions="0", flexible="0+"):
    resource_type: Int8 = 0
    resource_name: String = ""
    name: String = ""
    value: String | None = ""


class EntityData(Struct):
    entity_type: String = ""
    entity_name: String | None = ""


class ClientQuotaRecord(Message, api_key=14, versions="0", flexible="0+"):
    entity: list[EntityData] = field(factory=list)
    key: String = ""
    value: Float64 = 0.0
    remove: Bool = False
