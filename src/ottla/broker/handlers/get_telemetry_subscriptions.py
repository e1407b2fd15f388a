"""GetTelemetrySubscriptions, version 0: which metrics a client shall push, how often (KIP-714).

Every client may send it. Served only by a node whose metrics are read. Errors:
THROTTLING_QUOTA_EXCEEDED if the push interval is not over.
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.telemetry.client_telemetry import ACCEPTED_CODECS, ClientTelemetry
from ottla.security.acls.rights import NO_RIGHTS
from ottla.wire.apis import ApiKey
from ottla.wire.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)


@handles(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, rights=NO_RIGHTS)
def get_telemetry_subscriptions(
    context: RequestContext,
    request: GetTelemetrySubscriptionsRequest,
    *,
    client_telemetry: ClientTelemetry,
    cluster: ClusterView,
) -> GetTelemetrySubscriptionsResponse:
    requested_id = request.client_instance_id
    error, instance_id, instance = client_telemetry.subscription_of(requested_id, context)
    if error:
        return GetTelemetrySubscriptionsResponse(error_code=error)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=instance.subscription_id,
        accepted_compression_types=list(ACCEPTED_CODECS),
        push_interval_ms=instance.push_interval_ms,
        telemetry_max_bytes=cluster.config.telemetry_max_bytes,
        # As Prometheus has counters. Kafka requests what has grown since the last push.
        delta_temporality=False,
        requested_metrics=instance.metrics,
    )
