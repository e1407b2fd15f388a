"""Why a TLS connection failed, in words for both sides of it.

The text names the kind of failure, and contains nothing that the peer sent.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Final

# OpenSSL's reasons. An alert is what the peer says about the certificate that it was shown.
_REASONS: Final[Mapping[str, str]] = {
    "HTTP_REQUEST": "http request",
    "NO_SHARED_CIPHER": "the two sides have no cipher suite in common",
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "the peer has no certificate",
    "SSLV3_ALERT_BAD_CERTIFICATE": "the peer rejects the certificate",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the peer says that the certificate has expired",
    "SSLV3_ALERT_CERTIFICATE_REVOKED": "the peer says that the certificate is revoked",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "the peer rejects the certificate",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the peer refused it; it may require a certificate",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the peer requires a certificate",
    "TLSV1_ALERT_PROTOCOL_VERSION": "the two sides have no TLS version in common",
    "TLSV1_ALERT_UNKNOWN_CA": "the peer does not trust the certificate (unknown authority)",
    "UNSUPPORTED_PROTOCOL": "the two sides have no TLS version in common",
    "WRONG_VERSION_NUMBER": "the peer does not use TLS",
}


def failure_text(cause: Exception | None) -> str:
    if cause is None:
        return "the peer closed it"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {cause.verify_message.rstrip('.')}"
    if isinstance(cause, ssl.SSLError) and cause.reason:
        return _REASONS.get(cause.reason) or cause.reason.replace("_", " ").lower()
    return str(cause)
