"""Metrics that clients push (KIP-714)."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge

_CLIENT: Final = (
    "client_id",
    "client_instance_id",
    "client_software_name",
    "metric",
    "topic",
    "partition",
    "node_id",
    "attributes",
)
_LABELS: Final = (
    "The label metric has the client's name for it; attributes has those of the client that have "
    "no label of their own, as NAME=VALUE separated by commas."
)

CLIENT_INSTANCES: Final = gauge(
    "ottla_client_instances",
    "Client instances that have requested a subscription to metrics from this node.",
    kafka="kafka.server:type=ClientMetrics#ClientMetricsInstanceCount",
)
PUSHES: Final = counter(
    "ottla_client_metric_pushes_total",
    "PushTelemetry requests of clients, by error code (NONE if the metrics were accepted).",
    "error",
    kafka="kafka.server:type=ClientMetrics#ClientMetricsPluginExportCount,"
    "ClientMetricsPluginErrorCount,ClientMetricsThrottleCount,"
    "ClientMetricsUnknownSubscriptionRequestCount",
)
SERIES_DROPPED: Final = counter(
    "ottla_client_metric_series_dropped_total",
    "Series in pushes of clients that were left out because of ottla.client.metrics.series.max.",
)
CLIENT_VALUES: Final = gauge(
    "ottla_client_metric_value", f"Gauges that clients have pushed last. {_LABELS}", *_CLIENT
)
CLIENT_TOTALS: Final = counter(
    "ottla_client_metric_total", f"Counters that clients have pushed last. {_LABELS}", *_CLIENT
)

# A collector gets them as the clients call them.
PUSHED_FAMILIES: Final = (CLIENT_VALUES, CLIENT_TOTALS)
CLIENT_TELEMETRY_FAMILIES: Final = (
    CLIENT_INSTANCES,
    PUSHES,
    SERIES_DROPPED,
    CLIENT_VALUES,
    CLIENT_TOTALS,
)
