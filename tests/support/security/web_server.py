"""An HTTPS server on loopback whose responses a test chooses, byte by byte."""

from __future__ import annotations

import socket  # noqa: TID251
import ssl
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import trustme

# Takes the request's head and body, and sends what it likes.
Responder = Callable[[bytes, socket.socket], None]


def ok(body: bytes, *, length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + body


class WebServer:
    """Serves one connection after the other in a thread until it is closed."""

    def __init__(self, respond: Responder | bytes, *, has_tls: bool = True) -> None:
        self.requests: list[bytes] = []
        self._respond = respond
        authority = trustme.CA(key_type=trustme.KeyType.ECDSA)
        issued = authority.issue_cert("localhost", key_type=trustme.KeyType.ECDSA)
        self.trusting = ssl.create_default_context()
        authority.configure_trust(self.trusting)
        self._tls: ssl.SSLContext | None = None
        if has_tls:
            self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            issued.configure_cert(self._tls)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._is_closed = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_closed = True
        # Wakes the thread.
        socket.create_connection(self._listening.getsockname()).close()
        self._thread.join(10)
        self._listening.close()

    def url(self, path: str = "/", *, host: str = "localhost") -> str:
        return f"https://{host}:{self._listening.getsockname()[1]}{path}"

    def _serve(self) -> None:
        while True:
            accepted, _ = self._listening.accept()
            with accepted:
                if self._is_closed:
                    return
                accepted.settimeout(10)
                try:
                    self._serve_one(accepted)
                except OSError:
                    continue

    def _serve_one(self, accepted: socket.socket) -> None:
        if self._tls is None:
            secured = accepted
        else:
            secured = self._tls.wrap_socket(accepted, server_side=True)
        with secured:
            request = secured.recv(65_536)
            if b"Content-Length" in request and request.endswith(b"\r\n\r\n"):
                request += secured.recv(65_536)
            self.requests.append(request)
            if isinstance(self._respond, bytes):
                secured.sendall(self._respond)
            else:
                self._respond(request, secured)
