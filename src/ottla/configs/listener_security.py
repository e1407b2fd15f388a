"""The security of one listener: protocol, TLS and SASL settings.

Built from a node's properties by `node_security`. A listener that this node binds has what a server
needs; of a listener on other nodes, only what a client needs is guaranteed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ottla.configs.value import Password

SecurityProtocol: TypeAlias = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
StoreType: TypeAlias = Literal["PEM", "PKCS12"]
ClientAuth: TypeAlias = Literal["none", "requested", "required"]


@dataclass(frozen=True, slots=True)
class Store:
    """A key store or a trust store: a file, or PEM text in the properties.

    `location` and `certificates` exclude each other. `key` is the PEM private key that belongs to
    `certificates`; a trust store has none. `password` opens a PKCS#12 file, and `key_password`
    decrypts the private key.
    """

    type: StoreType
    location: str | None = None
    certificates: Password | None = None
    key: Password | None = None
    password: Password | None = None
    key_password: Password | None = None


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """`cipher_suites` are names of the TLS standard; an empty tuple means OpenSSL's default.

    `enabled_protocols` are the versions that this listener accepts, `client_protocols` those with
    which this node connects to other nodes. Both are in ascending order and never empty.
    """

    keystore: Store | None
    truststore: Store | None
    client_auth: ClientAuth
    enabled_protocols: tuple[str, ...]
    client_protocols: tuple[str, ...]
    cipher_suites: tuple[str, ...]
    endpoint_identification: bool
    crl_location: str | None


@dataclass(frozen=True, slots=True)
class TokenValidation:
    """How a server verifies OAUTHBEARER tokens. The URL has the scheme file or https."""

    jwks_endpoint_url: str
    expected_audience: tuple[str, ...]
    expected_issuer: str | None
    clock_skew_seconds: int
    scope_claim_name: str
    sub_claim_name: str
    jwks_refresh_ms: int
    jwks_retry_backoff_ms: int
    jwks_retry_backoff_max_ms: int


@dataclass(frozen=True, slots=True)
class TokenRetrieval:
    """How this node obtains OAUTHBEARER tokens when it connects to other nodes.

    The URL has the scheme file (the file contains a token) or https (client credentials grant).
    The client id and secret may also be options of the JAAS entry.
    """

    token_endpoint_url: str
    client_id: str | None
    client_secret: Password | None
    scope: str | None
    connect_timeout_ms: int | None
    read_timeout_ms: int | None
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    refresh_window_factor: float
    refresh_window_jitter: float
    refresh_min_period_seconds: int
    refresh_buffer_seconds: int


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    validation: TokenValidation | None
    retrieval: TokenRetrieval | None


@dataclass(frozen=True, slots=True)
class SaslSettings:
    """`client_mechanism` is the mechanism with which this node connects to other nodes through the
    listener, or None if it never does.

    `jaas` has the JAAS texts and `max_reauth_ms` the maximum session lifetimes (0: unlimited), both
    by mechanism. A mechanism without a JAAS text is not in `jaas`.
    """

    enabled_mechanisms: tuple[str, ...]
    client_mechanism: str | None
    jaas: Mapping[str, Password]
    max_reauth_ms: Mapping[str, int]
    server_max_receive_bytes: int
    failed_authentication_delay_ms: int
    oauth: OAuthSettings | None


@dataclass(frozen=True, slots=True)
class ListenerSecurity:
    """`tls` is None without TLS, `sasl` is None without SASL."""

    protocol: SecurityProtocol
    tls: TlsSettings | None = None
    sasl: SaslSettings | None = None
    principal_mapping_rules: str = "DEFAULT"

    @property
    def authenticates_clients(self) -> bool:
        """Whether every client proves its identity before it can send other requests."""
        return self.sasl is not None or (
            self.tls is not None and self.tls.client_auth == "required"
        )


PLAINTEXT_SECURITY: Final = ListenerSecurity("PLAINTEXT")
