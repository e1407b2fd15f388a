"""Replaces all configs of a resource (KIP-133); IncrementalAlterConfigs changes single ones."""

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
    value: Text | None = ""


class AlterConfigsResource(Struct):
    resource_type: Int8 = 0
    resource_name: ConfigResourceName = ""
    configs: list[AlterableConfig] = field(factory=list)


class AlterConfigsRequest(Message, api_key=33, versions="0-2", flexible="2+"):
    resources: list[AlterConfigsResource] = field(factory=list)
    validate_only: Bool = False


class AlterConfigsResourceResponse(Struct):
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    resource_type: Int8 = 0
    resource_name: ConfigResourceName = ""


class AlterConfigsResponse(Message, api_key=33, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse] = field(factory=list)
