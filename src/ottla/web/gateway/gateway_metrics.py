"""What a gateway measures beside its requests."""

from __future__ import annotations

from ottla.metrics import Metrics
from ottla.metrics.table import web as table
from ottla.web.gateway.gateway import Gateway


class GatewayMetrics:
    """Reads the state of the gateway when the metrics are requested."""

    def __init__(self, metrics: Metrics, gateway: Gateway) -> None:
        metrics.measure(table.GATEWAY_SESSIONS, lambda: [((), len(gateway.sessions.table))])
        metrics.measure(table.GATEWAY_CALLERS, lambda: [((), len(gateway.callers))])
        metrics.measure(table.GATEWAY_IN_FLIGHT, lambda: [((), gateway.producing.in_flight_bytes)])
        metrics.measure(table.GATEWAY_PRODUCED, lambda: [((), gateway.producing.acknowledged)])
        metrics.measure(table.GATEWAY_CONSUMED, lambda: [((), gateway.sessions.delivered)])
