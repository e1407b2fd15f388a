"""The properties of Kafka's own clients by librdkafka's names, for tests in which it is a judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.client_security.bearer_token import BearerTokenSource
from ottla.client_security.client_security import SECURITY_PROTOCOL, ClientSecurity
from ottla.client_security.errors import ClientPropertyError
from ottla.client_security.property_names import is_ignored, is_of_security
from ottla.runtime.system_clock import SystemClock

# Kafka's names of properties that are not about security, and librdkafka's for the same.
_RENAMED: Final[Mapping[str, str]] = {
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}
# They tune Kafka's own clients, and librdkafka has nothing like them.
_OF_KAFKAS_CLIENTS: Final = frozenset(
    {
        "auto.include.jmx.reporter",
        "bootstrap.controllers",
        "default.api.timeout.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "request.timeout.ms",
        "retries",
        "socket.connection.setup.timeout.max.ms",
    }
)
# For tokens that do not say when they expire: how long they are used.
_TOKEN_SECONDS: Final = 300.0


def librdkafka_properties(
    properties: Mapping[str, str], security: ClientSecurity
) -> dict[str, Any]:
    """All of a client's properties by librdkafka's names. Raises ClientPropertyError for what it
    cannot do."""
    others = {
        _RENAMED.get(name, name): value
        for name, value in properties.items()
        if not (is_of_security(name) or is_ignored(name) or name in _OF_KAFKAS_CLIENTS)
    }
    if security.protocol == "PLAINTEXT":
        return others
    if security.is_token:
        raise _usage(
            "This command's client cannot authenticate with a delegation token (tokenauth).",
            "Authenticate with a user name and a password.",
        )
    if security.has_tls and "TLSv1.2" not in security.tls_versions:
        raise _usage(
            "This command's client cannot be limited to TLSv1.3.",
            "Leave out ssl.enabled.protocols, and set it on the broker's listener instead.",
        )
    found = {**others, **security.properties, SECURITY_PROTOCOL: security.protocol}
    if security.bearer is None:
        return found
    return {**found, "oauth_cb": _token_callback(security.bearer, security)}


def _token_callback(
    source: BearerTokenSource, security: ClientSecurity
) -> Callable[[str], tuple[str, float]]:
    # Most commands have no tokens.
    from ottla.client_security.node_channel import tls_context

    context = tls_context(security)

    def token(_config: str) -> tuple[str, float]:
        found = source.token(context)
        expires_at_s = found.expires_at_s or SystemClock().now_ms() / 1_000 + _TOKEN_SECONDS
        return found.value.value, expires_at_s

    return token


def _usage(message: str, *hints: str) -> ClientPropertyError:
    return ClientPropertyError(message, *hints)
