"""TLS over a real connection, message by message: by OpenSSL, and by hand where OpenSSL refuses."""

from __future__ import annotations

import ctypes
import socket  # noqa: TID251 - tests stand outside of the node
import ssl
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from types import TracebackType
from typing import Any, Final, Self

import pytest

_ALERT: Final = 21
_HANDSHAKE: Final = 22
# Where CPython keeps OpenSSL's connection in its own object, after the head of the object and the
# reference to its socket.
_SSL_POINTER_AT: Final = 24
_UPDATE_REQUESTED: Final = 1
_TIMEOUT_SECONDS: Final = 30.0

TLS_1_0, TLS_1_1, TLS_1_2, TLS_1_3 = 0x0301, 0x0302, 0x0303, 0x0304
STRONG_SUITES: Final = (0x1301, 0xC02B, 0xC02C)
FALLBACK_SUITE: Final = 0x5600


def client_hello(
    version: int,
    *,
    suites: Sequence[int] = STRONG_SUITES,
    supported_versions: Sequence[int] = (),
    compressions: bytes = b"\0",
) -> bytes:
    """A record with a ClientHello."""
    extensions = _extension(10, _vector(struct.pack(">HH", 29, 23), 2))
    extensions += _extension(13, _vector(struct.pack(">HHH", 0x0403, 0x0804, 0x0401), 2))
    if supported_versions:
        versions = b"".join(struct.pack(">H", each) for each in supported_versions)
        extensions += _extension(43, _vector(versions, 1)) + _extension(51, _vector(b"", 2))
    body = struct.pack(">H", version) + bytes(32) + _vector(b"", 1)
    body += _vector(b"".join(struct.pack(">H", suite) for suite in suites), 2)
    body += _vector(compressions, 1) + _vector(extensions, 2)
    message = b"\x01" + len(body).to_bytes(3) + body
    return struct.pack(">BHH", _HANDSHAKE, TLS_1_0, len(message)) + message


def alert_in(answer: bytes) -> int | None:
    """The description of the alert at the start of an answer."""
    if len(answer) < 7 or answer[0] != _ALERT:
        return None
    return answer[6]


def _vector(data: bytes, size_bytes: int) -> bytes:
    return len(data).to_bytes(size_bytes) + data


def _extension(number: int, data: bytes) -> bytes:
    return struct.pack(">H", number) + _vector(data, 2)


class TlsWire:
    """A client whose OpenSSL works in memory, so that the test moves the bytes. Closed at the end
    of its `with`."""

    def __init__(self, address: tuple[str, int], context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="localhost")
        self.socket = socket.create_connection(address)
        self.socket.settimeout(_TIMEOUT_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.socket.close()

    def hello(self) -> bytes:
        """The first message of the handshake, which is not sent."""
        with suppress(ssl.SSLWantReadError):
            self.tls.do_handshake()
        return self._outgoing.read()

    def shake_hands(self) -> None:
        self._until_done(self.tls.do_handshake)

    def send(self, data: bytes) -> None:
        self.tls.write(data)
        self.flush()

    def flush(self) -> int:
        """Sends what OpenSSL has written, while the node takes it. Returns its length."""
        data = self._outgoing.read()
        with suppress(ConnectionError):
            self.socket.sendall(data)
        return len(data)

    def receive_end(self) -> None:
        """Returns when the node has closed the connection."""
        with suppress(ConnectionResetError):
            while self.socket.recv(1 << 16):
                pass

    # ---- what Python's module cannot do

    def write_key_updates(self, count: int) -> None:
        """Messages that replace the keys, and that request the same of the node (TLS 1.3)."""
        library, pointer = _openssl(), self._pointer
        for _ in range(count):
            assert library.SSL_key_update(pointer, _UPDATE_REQUESTED) == 1
            assert library.SSL_do_handshake(pointer) == 1

    def renegotiate(self) -> None:
        """Begins another handshake on the open connection (TLS 1.2). Raises ssl.SSLError."""
        assert _openssl().SSL_renegotiate(self._pointer) == 1
        self._until_done(self.tls.do_handshake)

    def _until_done(self, step: Callable[[], object]) -> None:
        while True:
            try:
                step()
            except ssl.SSLWantReadError:
                self.flush()
                received = self.socket.recv(1 << 16)
                if received:
                    self._incoming.write(received)
                else:
                    self._incoming.write_eof()
                continue
            finally:
                self.flush()
            return

    @property
    def _pointer(self) -> ctypes.c_void_p:
        inner: Any = self.tls._sslobj  # type: ignore[attr-defined]
        return ctypes.c_void_p.from_address(id(inner) + _SSL_POINTER_AT)


@cache
def _openssl() -> ctypes.CDLL:
    """The library that Python's ssl module uses. Skips the test where it cannot be called."""
    import _ssl

    try:
        library = ctypes.CDLL(_ssl.__file__)
        library.SSL_key_update.argtypes = [ctypes.c_void_p, ctypes.c_int]
        library.SSL_do_handshake.argtypes = [ctypes.c_void_p]
        library.SSL_renegotiate.argtypes = [ctypes.c_void_p]
    except (AttributeError, OSError):
        pytest.skip("OpenSSL is built into this Python and cannot be called directly")
    return library
