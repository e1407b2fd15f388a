"""Finds what a node leaves open to everyone who can reach its machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ottla.configs.listeners import ConfiguredListener
from ottla.configs.node_config import NodeConfig

_LOOPBACK: Final = re.compile(r"127(?:\.[0-9]{1,3}){3}")


def exposure_warnings(node: NodeConfig) -> Iterator[str]:
    """About listeners that are not on loopback: without authentication, without encryption, or
    without rules about what their clients may do."""
    exposed = [
        listener
        for listener in (*node.listeners.broker, *node.listeners.controller)
        if not _is_loopback(listener)
    ]
    security = node.listener_security
    unauthenticated = [each for each in exposed if not security[each.name].authenticates_clients]
    if unauthenticated:
        yield (
            "Clients are not authenticated on listeners that other machines may reach: "
            f"{_text(unauthenticated)}. Everyone who reaches them can read, change and delete all "
            "data. Bind them to 127.0.0.1, or use the security protocol SASL_SSL, or SSL with "
            "ssl.client.auth=required"
        )
    unencrypted = [each for each in exposed if security[each.name].protocol == "SASL_PLAINTEXT"]
    if unencrypted:
        yield (
            "Connections are not encrypted on listeners that other machines may reach: "
            f"{_text(unencrypted)}. Everyone on the network between can read and change what is "
            "sent, and with PLAIN and OAUTHBEARER the passwords and tokens. Use the security "
            "protocol SASL_SSL"
        )
    if exposed and not unauthenticated and not node.authorizer_class_name:
        yield (
            "Every client that authenticates can read, change and delete all data, because "
            "authorizer.class.name is not set. Set it to "
            "org.apache.kafka.metadata.authorizer.StandardAuthorizer, and super.users"
        )


def _text(listeners: list[ConfiguredListener]) -> str:
    return ", ".join(f"{each.name} ({each.host or 'every interface'})" for each in listeners)


def metrics_exposure_warnings(node: NodeConfig) -> Iterator[str]:
    """Warnings if other machines may reach the metrics, or the credentials sent with them."""
    listener, endpoint = node.metrics_listener, node.metrics_otlp_endpoint
    if listener is not None and not listener.is_loopback:
        yield (
            f"Metrics are served on {listener.host}:{listener.port} without authentication: "
            "everyone who reaches it can read the names of topics, groups and directories. Bind "
            "ottla.metrics.listener to 127.0.0.1, or let only Prometheus reach the port"
        )
    if endpoint is not None and endpoint.headers and not endpoint.is_protected:
        yield (
            f"Metrics are sent to {endpoint.host} without encryption, and with them "
            "ottla.metrics.otlp.headers. Use an https: URL in ottla.metrics.otlp.endpoint"
        )


def _is_loopback(listener: ConfiguredListener) -> bool:
    host = listener.host.lower()
    return host in ("localhost", "::1") or _LOOPBACK.fullmatch(host) is not None
