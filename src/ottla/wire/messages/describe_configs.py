"""Returns the configs of topics, brokers and other resources, and their sources (KIP-133).

Version 1 lists a config's synonyms (KIP-226). 3 has types and documentation (KIP-569).
"""

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


class DescribeConfigsResource(Struct):
    resource_type: Int8 = 0
    resource_name: ConfigResourceName = ""
    configuration_keys: list[Text] | None = field(factory=list)


class DescribeConfigsRequest(Message, api_key=32, versions="1-4", flexible="4+"):
    resources: list[DescribeConfigsResource] = field(factory=list)
    include_synonyms: Bool = False
    include_documentation: Bool = field(default=False, versions="3+")


class DescribeConfigsSynonym(Struct):
    name: Text = ""
    value: Text | None = ""
    source: Int8 = 0


class DescribeConfigsResourceResult(Struct):
    name: Text = ""
    value: Text | None = ""
    read_only: Bool = False
    config_source: Int8 = -1
    is_sensitive: Bool = False
    synonyms: list[DescribeConfigsSynonym] = field(factory=list)
    config_type: Int8 = field(default=0, versions="3+")
    documentation: Text | None = field(default="", versions="3+")


class DescribeConfigsResult(Struct):
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    resource_type: Int8 = 0
    resource_name: ConfigResourceName = ""
    configs: list[DescribeConfigsResourceResult] = field(factory=list)


class DescribeConfigsResponse(Message, api_key=32, versions="1-4", flexible="4+"):
    throttle_time_ms: Int32 = 0
    results: list[DescribeConfigsResult] = field(factory=list)
