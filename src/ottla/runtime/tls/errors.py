"""The error of a failed TLS handshake. Can be imported without OpenSSL being loaded."""

from __future__ import annotations


class TlsHandshakeError(OSError):
    """The handshake failed: untrusted certificate, wrong host name, no common version, ... With TLS
    1.3, a client learns that the server refuses its certificate only after its own handshake.

    `is_untrusted` says that this side refused the certificate of the peer."""

    def __init__(self, message: str, *, is_untrusted: bool = False) -> None:
        super().__init__(message)
        self.is_untrusted = is_untrusted
