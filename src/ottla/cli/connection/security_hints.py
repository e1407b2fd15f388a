"""What to do when a connection is not secured: by the words of the client and of OpenSSL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WHERE: Final = (
    "Security properties come from the file of --command-config, the profile and -X NAME=VALUE."
)
_OWN_CERTIFICATE: Final = (
    "This listener requires a client certificate: write ssl.keystore.type=PEM and "
    "ssl.keystore.location=FILE, or give the port of another listener."
)
_CERTIFICATE: Final = (
    "The broker does not accept this client's certificate: use one that is valid and whose "
    "authority is in the trust store of the broker's listener (ssl.keystore.location)."
)
_AUTHORITY: Final = (
    "Name the certificate of the authority that signed the broker's certificate: "
    "ssl.truststore.type=PEM and ssl.truststore.location=FILE."
)
_HOST: Final = (
    "The broker's certificate is for other hosts: connect by a name or address that is in it, or "
    "give the broker a certificate with this one (`ottla certs show FILE` lists the names)."
)
_NO_TLS: Final = (
    "This port does not use TLS: write security.protocol=PLAINTEXT (or SASL_PLAINTEXT), or give "
    "the port of a listener with TLS."
)
_NO_SASL: Final = (
    "This port does not authenticate clients with SASL: write security.protocol=SSL (or "
    "PLAINTEXT), or give the port of a listener with SASL."
)
_VERSIONS: Final = (
    "Compare ssl.enabled.protocols and the cipher suites of the client and of the listener."
)
# In this order: the first text that a reason contains, in lower case, decides.
_HINTS: Final[Mapping[str, str]] = {
    "invalid credentials": "Check the user name and the password. The user must have a credential "
    "for this sasl.mechanism: an administrator sees it with `ottla users list`.",
    "unsupported_sasl_mechanism": "Write sasl.mechanism with one that the listener enables.",
    "does not authenticate clients with sasl": _NO_SASL,
    "hostname mismatch": _HOST,
    "ip address mismatch": _HOST,
    "has expired": "Renew the certificate; `ottla certs show FILE` shows how long one is valid.",
    "is not yet valid": "Check the clocks of both hosts, and from when the certificate is valid.",
    "revoked": "The certificate was revoked: use another one.",
    "unable to get certificate crl": "The file of ottla.ssl.crl.location has no revocation list of "
    "the authority that signed the certificate: add it.",
    "crl has expired": "Replace the file of ottla.ssl.crl.location by a newer revocation list.",
    "certificate verify failed": _AUTHORITY,
    "certificate required": _OWN_CERTIFICATE,
    "requires a certificate": _OWN_CERTIFICATE,
    "require a certificate": _OWN_CERTIFICATE,
    "unknown ca": _CERTIFICATE,
    "unknown authority": _CERTIFICATE,
    "bad certificate": _CERTIFICATE,
    "rejects the certificate": _CERTIFICATE,
    "wrong version number": _NO_TLS,
    "packet length too long": _NO_TLS,
    "does not use tls": _NO_TLS,
    "the peer closed it": _NO_TLS,
    "in common": _VERSIONS,
    "protocol version": _VERSIONS,
}


def security_hint(reason: str) -> str:
    text = reason.lower()
    return next((hint for words, hint in _HINTS.items() if words in text), _WHERE)
