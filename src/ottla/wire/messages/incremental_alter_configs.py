"""Sets, deletes, appends to or subtracts from single configs of a resource (KIP-339)."""

from __future__ import annotations

from ottla.wire.schema import (
    Bool,
    ConfigResourceName,
    Int8,
    Int16,
    Int32,
    Message,
    MessageText,
    Struct,
    Text,
    field,
)


class AlterableConfig(Struct):
    name: Text = ""
    config_operation: Int8 = 0
    value: Text | None = ""


class AlterConfigsResource(Struct):
    resource_type: Int8 = 0
    resource_name: ConfigResourceName = ""
    configs: list[AlterableConfig] = field(factory=list)


class IncrementalAlterConfigsRequest(Message, api_key=44, versions="0-1", flexible="1+"):
    resources: list[AlterConfigsResource] = field(factory=list)
    validate_only: Bool = False


class AlterConfigsResourceResponse(Struct):
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    resource_type: Int8 = 0
    resource_name: ConfigResourceName = ""


class IncrementalAlterConfigsResponse(Message, api_key=44, versions="0-1", flexible="1+"):
    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse] = field(factory=list)
