"""PushTelemetry, version 0: the metrics of a client (KIP-714).

Every client may send it. Served only by a node whose metrics are read. Errors: INVALID_REQUEST for
a reserved client instance id and after a terminating push; THROTTLING_QUOTA_EXCEEDED if the push
interval is not over; UNKNOWN_SUBSCRIPTION_ID if the subscription has changed;
UNSUPPORTED_COMPRESSION_TYPE; TELEMETRY_TOO_LARGE beyond telemetry.max.bytes; INVALID_RECORD for a
payload that cannot be read, or is larger than that when it is decompressed.
"""

from __future__ import annotations

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.telemetry.client_telemetry import ClientTelemetry
from ottla.security.acls.rights import NO_RIGHTS
from ottla.wire.apis import ApiKey
from ottla.wire.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse


@handles(ApiKey.PUSH_TELEMETRY, rights=NO_RIGHTS)
async def push_telemetry(
    context: RequestContext, request: PushTelemetryRequest, *, client_telemetry: ClientTelemetry
) -> PushTelemetryResponse:
    # The bytes of the request belong to the connection's buffer.
    payload = bytes(request.metrics)
    error = await client_telemetry.push(
        request.client_instance_id,
        context,
        payload,
        subscription_id=request.subscription_id,
        compression_type=request.compression_type,
        is_terminating=request.terminating,
    )
    return PushTelemetryResponse(error_code=error)
