"""The properties that all clients have, and what a cluster's connections need of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict

from ottla.channels import PLAINTEXT, ChannelSecurity
from ottla.client.settings.addresses import addresses
from ottla.client.settings.property import (
    REQUIRED,
    ClientProperty,
    number,
    one_of,
    table,
    text,
)
from ottla.client.settings.security import Security
from ottla.runtime.network import Address

COMMON: Final = table(
    ClientProperty(
        "bootstrap.servers",
        addresses,
        REQUIRED,
        "addresses at which the client first looks for the cluster, as HOST:PORT,HOST:PORT",
    ),
    ClientProperty(
        "client.id", text, "ottla", "name of this client in the brokers' logs, metrics and quotas"
    ),
    ClientProperty(
        "client.dns.lookup",
        one_of("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
        "use_all_dns_ips",
        "accepted for compatibility: all addresses of a host are always tried",
    ),
    ClientProperty(
        "request.timeout.ms", number(low=1), 30_000, "time for a node's response to a request"
    ),
    ClientProperty("retry.backoff.ms", number(), 100, "time before the first retry"),
    ClientProperty(
        "retry.backoff.max.ms", number(), 1_000, "longest time before a retry; it doubles up to it"
    ),
    ClientProperty(
        "reconnect.backoff.ms", number(), 50, "time before the first attempt to connect again"
    ),
    ClientProperty(
        "reconnect.backoff.max.ms", number(), 1_000, "longest time between attempts to connect"
    ),
    ClientProperty(
        "socket.connection.setup.timeout.ms",
        number(low=1),
        10_000,
        "time for a connection to be established and authenticated",
    ),
    ClientProperty(
        "socket.connection.setup.timeout.max.ms",
        number(low=1),
        30_000,
        "accepted for compatibility: the timeout does not grow",
    ),
    ClientProperty(
        "connections.max.idle.ms",
        number(low=-1),
        540_000,
        "time after which the client closes a connection without requests; -1: never",
    ),
    ClientProperty(
        "metadata.max.age.ms", number(), 300_000, "time after which metadata is requested again"
    ),
    ClientProperty(
        "metadata.recovery.strategy",
        one_of("rebootstrap", "none"),
        "rebootstrap",
        "whether the client begins again with bootstrap.servers when no known node answers",
    ),
    ClientProperty(
        "metadata.recovery.rebootstrap.trigger.ms",
        number(),
        300_000,
        "accepted for compatibility: the client begins again as soon as no known node answers",
    ),
)


class CommonProperties(TypedDict, total=False):
    """The keywords of all clients: Kafka's names with `_` for `.`."""

    bootstrap_servers: str | Sequence[str]
    client_id: str
    client_dns_lookup: str
    request_timeout_ms: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    reconnect_backoff_ms: int
    reconnect_backoff_max_ms: int
    socket_connection_setup_timeout_ms: int
    socket_connection_setup_timeout_max_ms: int
    connections_max_idle_ms: int
    metadata_max_age_ms: int
    metadata_recovery_strategy: str
    metadata_recovery_rebootstrap_trigger_ms: int
    security: Security | ChannelSecurity
    security_protocol: str
    sasl_mechanism: str
    sasl_jaas_config: str
    sasl_username: str
    sasl_password: str
    sasl_oauthbearer_token_endpoint_url: str
    sasl_oauthbearer_client_credentials_client_id: str
    sasl_oauthbearer_client_credentials_client_secret: str
    sasl_oauthbearer_scope: str
    ssl_truststore_location: str
    ssl_truststore_password: str
    ssl_truststore_type: str
    ssl_truststore_certificates: str
    ssl_keystore_location: str
    ssl_keystore_password: str
    ssl_keystore_type: str
    ssl_keystore_key: str
    ssl_keystore_certificate_chain: str
    ssl_key_password: str
    ssl_enabled_protocols: str
    ssl_endpoint_identification_algorithm: str
    ssl_ca_location: str
    ssl_certificate_location: str
    ssl_key_location: str
    ottla_ssl_crl_location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """What the connections to a cluster need. `creates_topics`: whether looking for a topic that
    does not exist creates it, if the brokers allow that."""

    bootstrap: tuple[Address, ...]
    client_id: str = "ottla"
    security: ChannelSecurity = PLAINTEXT
    request_timeout_ms: int = 30_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    connection_setup_timeout_ms: int = 10_000
    connections_max_idle_ms: int = 540_000
    metadata_max_age_ms: int = 300_000
    rebootstraps: bool = True
    creates_topics: bool = False


def cluster_settings(
    values: Mapping[str, Any], security: ChannelSecurity, *, creates_topics: bool = False
) -> ClusterSettings:
    return ClusterSettings(
        bootstrap=values["bootstrap.servers"],
        client_id=values["client.id"],
        security=security,
        request_timeout_ms=values["request.timeout.ms"],
        retry_backoff_ms=values["retry.backoff.ms"],
        retry_backoff_max_ms=values["retry.backoff.max.ms"],
        reconnect_backoff_ms=values["reconnect.backoff.ms"],
        reconnect_backoff_max_ms=values["reconnect.backoff.max.ms"],
        connection_setup_timeout_ms=values["socket.connection.setup.timeout.ms"],
        connections_max_idle_ms=values["connections.max.idle.ms"],
        metadata_max_age_ms=values["metadata.max.age.ms"],
        rebootstraps=values["metadata.recovery.strategy"] == "rebootstrap",
        creates_topics=creates_topics,
    )
