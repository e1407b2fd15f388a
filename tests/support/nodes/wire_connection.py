"""One TCP connection to a node, for tests that say exactly which bytes go over it."""

from __future__ import annotations

import socket  # noqa: TID251 - tests stand outside of the node
import ssl
import struct
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from ottla.wire.requests import decode_response, encode_request
from ottla.wire.schema import Message

TIMEOUT_SECONDS = 30.0
_SIZE = struct.Struct(">i")


class WireConnection:
    """Closed at the end of its `with`. Waits at most `TIMEOUT_SECONDS` for anything. With `tls` it
    is encrypted; the error of a handshake is raised here."""

    def __init__(
        self,
        address: tuple[str, int],
        *,
        receive_buffer: int | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(TIMEOUT_SECONDS)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            self.socket.connect(address)
            if tls is not None:
                self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        except OSError:
            self.socket.close()
            raise
        self._correlation_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send_what_it_takes(self, data: bytes) -> None:
        """Sends until all is sent or the node has closed the connection."""
        with suppress(ConnectionError):
            self.socket.sendall(data)

    def finish(self) -> None:
        """Ends the sending side of the connection."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def send_request(self, request: Message, version: int) -> Any:
        """The response to a request."""
        assert request.api_key is not None
        self._correlation_id += 1
        self.send(framed(request, version, correlation_id=self._correlation_id))
        header, response = decode_response(self.receive_frame(), request.api_key, version)
        assert header.correlation_id == self._correlation_id
        return response

    def receive_frame(self) -> bytes:
        (size,) = _SIZE.unpack(self._receive(_SIZE.size))
        return self._receive(size)

    def receive_end(self) -> bytes:
        """Whatever still comes before the node closes the connection."""
        received = bytearray()
        # A node that closes while bytes of ours are unread resets; that is closed as well.
        with suppress(ConnectionResetError):
            while chunk := self.socket.recv(1 << 16):
                received += chunk
        return bytes(received)

    def _receive(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            chunk = self.socket.recv(size - len(received))
            if not chunk:
                raise ConnectionResetError("the node closed the connection")
            received += chunk
        return bytes(received)


def framed(request: Message, version: int, *, correlation_id: int = 0) -> bytes:
    """A request as it goes over the wire."""
    parts = encode_request(request, version, correlation_id=correlation_id, client_id="test")
    return b"".join(parts)


def with_size(frame: bytes) -> bytes:
    return _SIZE.pack(len(frame)) + frame
