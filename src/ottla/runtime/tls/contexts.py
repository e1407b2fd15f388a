"""Makes OpenSSL's contexts from the TLS settings of a listener."""

from __future__ import annotations

import ssl
from typing import Final

from ottla.configs.listener_security import TlsSettings
from ottla.runtime.tls.stores import (
    StoreError,
    load_keystore,
    load_revocation_lists,
    load_truststore,
)

_VERSIONS: Final = {
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
_CLIENT_CERTIFICATES: Final = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
# TLS 1.3 suites have these names and cannot be chosen here; OpenSSL's three are all strong.
_TLS_13_PREFIX: Final = "TLS_AES_", "TLS_CHACHA20_"


def server_context(settings: TlsSettings) -> ssl.SSLContext:
    """Raises StoreError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _limit(context, settings, settings.enabled_protocols)
    if settings.keystore is None:
        raise StoreError("a TLS listener needs a key store; set ssl.keystore.location")
    load_keystore(context, settings.keystore)
    context.verify_mode = _CLIENT_CERTIFICATES[settings.client_auth]
    if settings.truststore is not None:
        load_truststore(context, settings.truststore)
    if settings.crl_location is not None:
        load_revocation_lists(context, settings.crl_location)
    return context


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """The key store is the certificate that this client presents. Raises StoreError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _limit(context, settings, settings.client_protocols)
    context.check_hostname = settings.endpoint_identification
    if settings.truststore is not None:
        load_truststore(context, settings.truststore)
    else:
        context.load_default_certs()
    if settings.keystore is not None:
        load_keystore(context, settings.keystore)
    if settings.crl_location is not None:
        load_revocation_lists(context, settings.crl_location)
    return context


def _limit(context: ssl.SSLContext, settings: TlsSettings, protocols: tuple[str, ...]) -> None:
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.minimum_version = _VERSIONS[protocols[0]]
    context.maximum_version = _VERSIONS[protocols[-1]]
    chosen = [name for name in settings.cipher_suites if not name.startswith(_TLS_13_PREFIX)]
    if chosen:
        context.set_ciphers(":".join(_openssl_name(name) for name in chosen))


def _openssl_name(name: str) -> str:
    """OpenSSL's name of a suite: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 is
    ECDHE-RSA-AES128-GCM-SHA256."""
    plain = name.removeprefix("TLS_").replace("_WITH_", "_").replace("AES_", "AES")
    return plain.replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305").replace("_", "-")
