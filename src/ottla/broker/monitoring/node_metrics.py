"""Metrics of the node as a whole, and of its connections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ottla.broker.broker import Broker
from ottla.broker.control.node_progress import NodeStage
from ottla.broker.monitoring.health import obstacles
from ottla.broker.node import Node
from ottla.metrics import Metrics, Sample
from ottla.metrics.table import process, quotas, requests
from ottla.runtime.clock import Clock
from ottla.security.certificate_validity import expiry_of


class NodeMetrics:
    """Of a node that may still be starting. Registers its sources when it is made."""

    def __init__(self, metrics: Metrics, node: Node, clock: Clock) -> None:
        self._node = node
        self._clock = clock
        metrics.measure(process.NODE_STATE, self._states)
        metrics.measure(process.NODE_READY, self._ready)
        metrics.measure(process.LOGS_TO_RECOVER, self._logs_to_recover)

    def _states(self) -> Iterator[Sample]:
        for state in NodeStage:
            yield (state.value,), int(state is self._node.progress.state)

    def _ready(self) -> list[Sample]:
        return [((), int(not obstacles(self._node, self._clock)))]

    def _logs_to_recover(self) -> list[Sample]:
        progress = self._node.progress
        return [((), progress.all_logs - progress.opened_logs)]


class ConnectionMetrics:
    """Registers its sources when it is made."""

    def __init__(self, metrics: Metrics, broker: Broker) -> None:
        self._broker = broker
        metrics.measure(process.NODE_INFO, self._node)
        metrics.measure(requests.CONNECTIONS, self._open)
        metrics.measure(requests.REQUESTS_WAITING, self._waiting)
        metrics.measure(requests.CERTIFICATE_NOT_AFTER, self._certificates)
        self._begin_authentications(metrics)
        metrics.measure(requests.AUTHORIZATIONS, self._authorizations)
        metrics.measure(quotas.QUOTA_USAGE, lambda: self._quotas("used"))
        metrics.measure(quotas.QUOTA_LIMIT, lambda: self._quotas("limit"))
        metrics.measure(quotas.QUOTA_THROTTLED, self._throttled)

    def _node(self) -> list[Sample]:
        config, cluster_id = self._broker.config, self._broker.cluster.cluster_id
        roles = ",".join(config.process_roles)
        return [((str(config.node_id), cluster_id, roles, config.broker_rack or ""), 1)]

    def _open(self) -> Iterator[Sample]:
        counts = Counter(each.listener for each in self._broker.connections)
        listeners = self._broker.config.listeners
        for listener in (*listeners.broker, *listeners.controller):
            yield (listener.name,), counts[listener.name]

    def _waiting(self) -> Iterator[Sample]:
        counts = Counter(api for each in self._broker.connections for api in each.waiting_apis)
        for api, count in counts.items():
            yield (api,), count

    def _begin_authentications(self, metrics: Metrics) -> None:
        """At 0, so that Prometheus sees the first failures as growth."""
        for listener, security in self._broker.config.listener_security.items():
            mechanisms: tuple[str, ...] = ()
            if security.sasl is not None:
                mechanisms = security.sasl.enabled_mechanisms
            elif security.tls is not None and security.tls.client_auth != "none":
                mechanisms = ("TLS",)
            for mechanism in mechanisms:
                for outcome in ("succeeded", "failed"):
                    metrics.counter(requests.AUTHENTICATIONS, listener, mechanism, outcome)

    def _certificates(self) -> Iterator[Sample]:
        for listener, endpoint in self._broker.listeners.tls_endpoints.items():
            if endpoint.certificate is not None:
                yield (listener,), expiry_of(endpoint.certificate).timestamp()

    def _authorizations(self) -> Iterator[Sample]:
        for is_allowed, count in self._broker.authorizer.decisions.items():
            yield ("allowed" if is_allowed else "denied",), count

    def _quotas(self, field: str) -> Iterator[Sample]:
        for each in self._broker.client_quotas.usage():
            yield (each.key, each.user, each.client_id), getattr(each, field)

    def _throttled(self) -> Iterator[Sample]:
        for each in self._broker.client_quotas.usage():
            yield (each.key, each.user, each.client_id), each.throttled_ms / 1_000
