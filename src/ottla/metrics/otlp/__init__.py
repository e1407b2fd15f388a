"""Metrics in OTLP, the protocol of OpenTelemetry: written for a collector, and read from clients.

Both directions use the few messages of `opentelemetry/proto/metrics/v1` that metrics need, in their
binary encoding. The library of OpenTelemetry would add five packages for that.
"""

from ottla.metrics.otlp.encoding import (
    MeasuredResource,
    RelayedPoint,
    Times,
    export_requests,
    relayed_requests,
)

__all__ = ["MeasuredResource", "RelayedPoint", "Times", "export_requests", "relayed_requests"]
