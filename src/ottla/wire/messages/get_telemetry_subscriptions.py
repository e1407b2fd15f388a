"""Says which of its metrics a client shall push, and how often (KIP-714).

The first request has no client instance id; the broker assigns one.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Bool, Int8, Int16, Int32, Message, Text, Uuid, field


class GetTelemetrySubscriptionsRequest(Message, api_key=71, versions="0", flexible="0+"):
    client_instance_id: Uuid = ZERO_UUID


class GetTelemetrySubscriptionsResponse(Message, api_key=71, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    client_instance_id: Uuid = ZERO_UUID
    subscription_id: Int32 = 0
    accepted_compression_types: list[Int8] = field(factory=list)
    push_interval_ms: Int32 = 0
    telemetry_max_bytes: Int32 = 0
    delta_temporality: Bool = False
    requested_metrics: list[Text] = field(factory=list)
