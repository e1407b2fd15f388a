"""Sends one HTTPS request, to the provider of OAuth keys or tokens, or to a collector of metrics.
Blocks: call it on a worker.

The certificate of the server is verified with the certificate authorities of the operating system,
or with those of the environment variable SSL_CERT_FILE. Redirects are not followed, because the
credentials of the request are for the configured server only.
"""

from __future__ import annotations

import socket  # noqa: TID251  this is the seam
import ssl
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Event, Timer
from typing import Final
from urllib.parse import urlsplit

from ottla.runtime.https_request import HttpsError, HttpsRequest

_PORTS: Final = {"https": 443, "http": 80}
_OK: Final = 200


def send_https(
    request: HttpsRequest, *, bytes_max: int, context: ssl.SSLContext | None = None
) -> bytes:
    """The body of the response. Raises HttpsError, also for a status other than 200, a body of more
    than `bytes_max` bytes, and if all of it has not arrived within `seconds_max`."""
    scheme, host, port, target = _parts(request)
    seconds_max = request.connect_seconds_max
    connection = (
        _Connection(host, port, seconds_max, context or ssl.create_default_context())
        if scheme == "https"
        else _PlaintextConnection(host, port, timeout=seconds_max)
    )
    is_late = Event()
    watchdog = Timer(request.seconds_max, connection.interrupt, [is_late])
    watchdog.daemon = True
    watchdog.start()
    try:
        body = _exchange(connection, request, target, bytes_max=bytes_max)
    except (OSError, HTTPException, ValueError) as error:
        if is_late.is_set():
            raise HttpsError(f"{host}: no response within {request.seconds_max:g} s") from None
        status = error.status if isinstance(error, HttpsError) else 0
        raise HttpsError(f"{host}: {_reason(error)}", status) from None
    finally:
        watchdog.cancel()
        connection.close()
    if is_late.is_set():
        raise HttpsError(f"{host}: no response within {request.seconds_max:g} s")
    return body


class _PlaintextConnection(HTTPConnection):
    """Can be interrupted by another thread at any time."""

    def interrupt(self, is_late: Event) -> None:
        is_late.set()
        if self.sock is not None:
            # Not the shutdown of TLS sockets, after which they would read without decrypting.
            with suppress(OSError):
                socket.socket.shutdown(self.sock, socket.SHUT_RDWR)


class _Connection(_PlaintextConnection, HTTPSConnection):
    """Can be interrupted also during the TLS handshake."""

    def __init__(self, host: str, port: int, timeout: float, context: ssl.SSLContext) -> None:
        HTTPSConnection.__init__(self, host, port, timeout=timeout, context=context)
        self._tls = context

    def connect(self) -> None:
        HTTPConnection.connect(self)
        self.sock = secured = self._tls.wrap_socket(
            self.sock, server_hostname=self.host, do_handshake_on_connect=False
        )
        secured.do_handshake()


def _exchange(
    connection: HTTPConnection, request: HttpsRequest, target: str, *, bytes_max: int
) -> bytes:
    headers = {"Accept": "application/json"}
    if request.authorization is not None:
        headers["Authorization"] = request.authorization.value
    if request.content is not None:
        kind, content, more = request.content
        headers |= {"Accept": kind, "Content-Type": kind}
        headers |= {name: value.value for name, value in more.items()}
        connection.request("POST", target, body=content, headers=headers)
    elif request.form is None:
        connection.request("GET", target, headers=headers)
    else:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request("POST", target, body=request.form.value.encode(), headers=headers)
    with connection.getresponse() as response:
        if response.status != _OK:
            raise HttpsError(f"it responded with status {response.status}", response.status)
        body = response.read(bytes_max + 1)
        if len(body) > bytes_max:
            raise HttpsError(f"its response is larger than {bytes_max} bytes")
        if response.length:
            raise HttpsError("its response ended early")
        return body


def _parts(request: HttpsRequest) -> tuple[str, str, int, str]:
    """The scheme, the host, the port, and the path with the query."""
    try:
        parts = urlsplit(request.url)
        host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        raise HttpsError("the URL is not valid") from None
    allowed = ("https", "http") if request.allows_plaintext else ("https",)
    if parts.scheme not in allowed or not host:
        schemes = " or ".join(f"{each}://" for each in allowed)
        raise HttpsError(f"the URL must start with {schemes}, followed by a host")
    if parts.username is not None or parts.password is not None:
        raise HttpsError(f"{host}: the URL must not contain a user name or a password")
    target = parts.path or "/"
    return parts.scheme, host, port, f"{target}?{parts.query}" if parts.query else target


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or 'it closed the connection'}"
    if isinstance(error, HTTPException):
        # These errors may quote the response.
        return "it did not respond with HTTP"
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    return "the request cannot be sent: the URL has characters that are not allowed"
