"""A client pushes its metrics, as MetricsData of OpenTelemetry 1 (KIP-714)."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Bool, Bytes, Int8, Int16, Int32, Message, Uuid


class PushTelemetryRequest(Message, api_key=72, versions="0", flexible="0+"):
    client_instance_id: Uuid = ZERO_UUID
    subscription_id: Int32 = 0
    terminating: Bool = False
    compression_type: Int8 = 0
    metrics: Bytes = b""


class PushTelemetryResponse(Message, api_key=72, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
