"""Lists the resources that have configs.

Version 0 lists only client metrics subscriptions and was named ListClientMetricsResources
(KIP-1000); 1 can filter by type (KIP-1142).
"""

from __future__ import annotations

from ottla.wire.schema import ConfigResourceName, Int8, Int16, Int32, Message, Struct, field


class ListConfigResourcesRequest(Message, api_key=74, versions="0-1", flexible="0+"):
    resource_types: list[Int8] = field(factory=list, versions="1+")


class ConfigResource(Struct):
    resource_name: ConfigResourceName = ""
    resource_type: Int8 = field(default=16, versions="1+")


class ListConfigResourcesResponse(Message, api_key=74, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    config_resources: list[ConfigResource] = field(factory=list)
