"""The programs that serve HTTP: the schema registry and the gateway."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge, histogram

HTTP_REQUESTS: Final = counter(
    "ottla_http_requests_total",
    "Requests that were answered, by the handler of the route, method and status.",
    "route",
    "method",
    "status",
)
HTTP_SECONDS: Final = histogram(
    "ottla_http_request_seconds", "Time from a request to its response, by the handler.", "route"
)
HTTP_IN_PROGRESS: Final = gauge(
    "ottla_http_requests_in_progress", "Requests that are being answered."
)
TRACE_SPANS: Final = counter(
    "ottla_trace_spans_total",
    "Spans of traces: exported to a collector, or dropped because it did not accept them.",
    "outcome",
)
REGISTRY_SUBJECTS: Final = gauge(
    "ottla_registry_subjects",
    "Subjects with a version that is not deleted.",
    kafka="kafka.schema.registry:type=registered-count",
)
REGISTRY_SCHEMAS: Final = gauge(
    "ottla_registry_schemas", "Versions of all subjects, by whether they are deleted.", "deleted"
)
REGISTRY_WRITER: Final = gauge(
    "ottla_registry_writer",
    "1 if this instance is the writer, else 0. The sum over all instances should be 1.",
    kafka="kafka.schema.registry:type=master-slave-role",
)
REGISTRY_OFFSET: Final = gauge(
    "ottla_registry_offset", "Offset in the topic of schemas up to which this instance has read."
)
REGISTRY_WRITES: Final = counter(
    "ottla_registry_writes_total", "Records that this instance has written."
)
GATEWAY_SESSIONS: Final = gauge(
    "ottla_gateway_sessions", "Consumers that the gateway has open for its callers."
)
GATEWAY_CALLERS: Final = gauge(
    "ottla_gateway_callers", "Callers, by credentials, for which the gateway has open clients."
)
GATEWAY_IN_FLIGHT: Final = gauge(
    "ottla_gateway_in_flight_bytes", "Messages that wait for the cluster's acknowledgement."
)
GATEWAY_PRODUCED: Final = counter(
    "ottla_gateway_produced_messages_total", "Messages that the cluster has acknowledged."
)
GATEWAY_CONSUMED: Final = counter(
    "ottla_gateway_consumed_messages_total", "Messages that the gateway returned to callers."
)

WEB_FAMILIES: Final = (
    HTTP_REQUESTS,
    HTTP_SECONDS,
    HTTP_IN_PROGRESS,
    TRACE_SPANS,
    REGISTRY_SUBJECTS,
    REGISTRY_SCHEMAS,
    REGISTRY_WRITER,
    REGISTRY_OFFSET,
    REGISTRY_WRITES,
    GATEWAY_SESSIONS,
    GATEWAY_CALLERS,
    GATEWAY_IN_FLIGHT,
    GATEWAY_PRODUCED,
    GATEWAY_CONSUMED,
)
