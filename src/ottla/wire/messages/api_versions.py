"""Returns the APIs and versions that a node serves, and the features of its cluster.

A request of a version that the node does not support gets a version 0 response (KIP-511). Version 3
contains the client's software name and adds the features (KIP-584); 4 includes features whose
lowest version is 0, which older clients reject.
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Int16, Int32, Int64, Message, Struct, Text, field


class ApiVersionsRequest(Message, api_key=18, versions="0-4", flexible="3+"):
    client_software_name: Text = field(default="", versions="3+")
    client_software_version: Text = field(default="", versions="3+")


class ApiVersion(Struct):
    api_key: Int16 = 0
    min_version: Int16 = 0
    max_version: Int16 = 0


class SupportedFeatureKey(Struct):
    name: Text = ""
    min_version: Int16 = 0
    max_version: Int16 = 0


class FinalizedFeatureKey(Struct):
    name: Text = ""
    max_version_level: Int16 = 0
    min_version_level: Int16 = 0


class ApiVersionsResponse(Message, api_key=18, versions="0-4", flexible="3+"):
    error_code: Int16 = 0
    api_keys: list[ApiVersion] = field(factory=list)
    throttle_time_ms: Int32 = field(default=0, versions="1+")
    supported_features: list[SupportedFeatureKey] = field(factory=list, versions="3+", tag=0)
    finalized_features_epoch: Int64 = field(default=-1, versions="3+", tag=1)
    finalized_features: list[FinalizedFeatureKey] = field(factory=list, versions="3+", tag=2)
    zk_migration_ready: Bool = field(default=False, versions="3+", tag=3)
