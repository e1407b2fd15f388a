"""Builds the TLS settings of a listener from its configs."""

from __future__ import annotations

from typing import Final, cast

from ottla.configs.cipher_suites import OPENSSL_NAMES_OF_TLS_1_2_SUITES, TLS_1_3_SUITES
from ottla.configs.listener_security import ClientAuth, TlsSettings
from ottla.configs.listener_values import ListenerValues
from ottla.configs.tls_stores import keystore_of, truststore_of

TLS_1_2: Final = "TLSv1.2"
TLS_1_3: Final = "TLSv1.3"
_VERSIONS: Final = (TLS_1_2, TLS_1_3)
# Java's name for whatever version both sides have.
_ANY_VERSION: Final = "TLS"
_HTTPS: Final = "https"


def tls_settings(listener: ListenerValues, *, is_bound: bool, has_sasl: bool) -> TlsSettings:
    """`is_bound` says whether this node accepts connections on the listener.

    Raises InvalidConfigError if the listener cannot work or would be less secure than configured.
    """
    keystore, truststore = keystore_of(listener), truststore_of(listener)
    client_auth = _client_auth(listener, has_sasl=has_sasl)
    if is_bound and keystore is None:
        raise listener.error(
            "a listener with TLS needs a key and a certificate; set ssl.keystore.type=PEM and "
            "ssl.keystore.location, or ssl.keystore.key and ssl.keystore.certificate.chain"
        )
    if is_bound and client_auth != "none" and truststore is None:
        raise listener.error(
            f"ssl.client.auth={client_auth} needs the certificates that issue those of clients; "
            "set ssl.truststore.type=PEM and ssl.truststore.location"
        )
    suites = _cipher_suites(listener)
    protocols = _protocols(listener, suites)
    return TlsSettings(
        keystore=keystore,
        truststore=truststore,
        client_auth=client_auth,
        enabled_protocols=protocols,
        client_protocols=_client_protocols(listener, protocols),
        cipher_suites=suites,
        endpoint_identification=_endpoint_identification(listener),
        crl_location=listener.ssl_crl_location,
    )


def _client_auth(listener: ListenerValues, *, has_sasl: bool) -> ClientAuth:
    """As in Kafka, SASL_SSL listeners use only their own setting, never the one of all listeners
    (KIP-684)."""
    if has_sasl and listener.own_text("ssl.client.auth") is None:
        return "none"
    return cast("ClientAuth", listener.ssl_client_auth)


def _cipher_suites(listener: ListenerValues) -> tuple[str, ...]:
    suites = listener.ssl_cipher_suites
    unknown = [
        suite
        for suite in suites
        if suite not in TLS_1_3_SUITES and suite not in OPENSSL_NAMES_OF_TLS_1_2_SUITES
    ]
    if unknown:
        known = (*TLS_1_3_SUITES, *OPENSSL_NAMES_OF_TLS_1_2_SUITES)
        raise listener.error(
            f"ssl.cipher.suites has {unknown[0]}, which Ottla does not support; leave the setting "
            f"out, or choose from {', '.join(known)}"
        )
    missing = [suite for suite in TLS_1_3_SUITES if suite not in suites]
    if 0 < len(missing) < len(TLS_1_3_SUITES):
        raise listener.error(
            "ssl.cipher.suites must have all cipher suites of TLS 1.3 or none, because Python "
            f"cannot choose among them; add {', '.join(missing)}"
        )
    return suites


def _protocols(listener: ListenerValues, suites: tuple[str, ...]) -> tuple[str, ...]:
    """The enabled versions, without those that have none of the cipher suites."""
    enabled = listener.ssl_enabled_protocols
    unknown = [version for version in enabled if version not in _VERSIONS]
    if unknown or not enabled:
        wrong = unknown[0] if unknown else "no version"
        raise listener.error(
            f"ssl.enabled.protocols has {wrong}; it must be TLSv1.2, TLSv1.3 or both"
        )
    usable = [
        version for version in _VERSIONS if version in enabled and _has_suite(version, suites)
    ]
    if not usable:
        raise listener.error(
            f"ssl.cipher.suites has no cipher suite for {', '.join(enabled)} of "
            "ssl.enabled.protocols; leave one of the two settings out"
        )
    return tuple(usable)


def _has_suite(version: str, suites: tuple[str, ...]) -> bool:
    is_tls_1_3 = version == TLS_1_3
    return not suites or any((suite in TLS_1_3_SUITES) == is_tls_1_3 for suite in suites)


def _client_protocols(listener: ListenerValues, enabled: tuple[str, ...]) -> tuple[str, ...]:
    """`ssl.protocol` is the highest version with which a client connects."""
    highest = listener.ssl_protocol
    if highest not in (*_VERSIONS, _ANY_VERSION):
        raise listener.error(f"ssl.protocol is {highest}; it must be TLSv1.2 or TLSv1.3")
    if highest == _ANY_VERSION:
        return enabled
    protocols = tuple(version for version in enabled if version <= highest)
    if not protocols:
        raise listener.error(
            f"ssl.protocol is {highest}, and only {', '.join(enabled)} is enabled; remove "
            "ssl.protocol"
        )
    return protocols


def _endpoint_identification(listener: ListenerValues) -> bool:
    algorithm = listener.ssl_endpoint_identification_algorithm
    if algorithm.lower() not in ("", _HTTPS):
        raise listener.error(
            f"ssl.endpoint.identification.algorithm is {algorithm}; it must be https, or empty to "
            "accept certificates of any host"
        )
    return bool(algorithm)
