"""Raises or lowers the finalized versions of the cluster's features (KIP-584).

Version 1 distinguishes safe from unsafe downgrades and can only validate (KIP-778). 2 returns one
error for all features (KIP-1022).
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Int8, Int16, Int32, Message, MessageText, Struct, Text, field


class FeatureUpdateKey(Struct):
    feature: Text = ""
    max_version_level: Int16 = 0
    allow_downgrade: Bool = field(default=False, versions="0")
    upgrade_type: Int8 = field(default=1, versions="1+")


class UpdateFeaturesRequest(Message, api_key=57, versions="0-2", flexible="0+"):
    timeout_ms: Int32 = 60000
    feature_updates: list[FeatureUpdateKey] = field(factory=list)
    validate_only: Bool = field(default=False, versions="1+")


class UpdatableFeatureResult(Struct):
    feature: Text = ""
    error_code: Int16 = 0
    error_message: MessageText | None = ""


class UpdateFeaturesResponse(Message, api_key=57, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    results: list[UpdatableFeatureResult] = field(factory=list, versions="0-1")
