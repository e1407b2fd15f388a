"""One TLS session in memory: encrypted bytes in and out, decrypted bytes in and out."""

from __future__ import annotations

import ssl
from contextlib import suppress
from typing import Final

from ottla.model.buffers import Buffer

# OpenSSL keeps as much memory for a connection as it was once given at once; more is not faster.
_RECEIVE_BYTES: Final = 128 * 1024
# While a peer sends something else than data, it has to be processed in small steps: 128 KB of key
# updates take 70 ms.
_RECEIVE_BYTES_SMALL: Final = 4 * 1024
# More than 2,000 key updates in a row, where a peer needs one in gigabytes.
_BYTES_WITHOUT_DATA_MAX: Final = 64 * 1024
# A receive is finished before the next one of any session begins, so all share one buffer.
_receive_buffer = memoryview(bytearray(_RECEIVE_BYTES))
_small_receive_buffer = _receive_buffer[:_RECEIVE_BYTES_SMALL]
_NOTHING: Final = b""


class TlsSession:
    """OpenSSL's state of one connection and the bytes between it and the network."""

    def __init__(
        self, context: ssl.SSLContext, *, is_server: bool, server_name: str | None = None
    ) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._incoming, self._outgoing, server_side=is_server, server_hostname=server_name
        )
        self.is_at_end = False
        # Of the last receive: bytes that were received, and bytes of data that were in them.
        self._received, self._decrypted = 1, 0
        self._without_data = 0

    @property
    def receive_buffer(self) -> memoryview:
        """The buffer for the next encrypted bytes, valid until `received`. Large if the last
        receive was mostly data."""
        is_data = 2 * self._decrypted >= self._received
        return _receive_buffer if is_data else _small_receive_buffer

    def received(self, length: int) -> None:
        self._incoming.write(_receive_buffer[:length])
        self._received, self._decrypted = length, 0
        self._without_data += length

    @property
    def is_abused(self) -> bool:
        """Whether the peer has sent much, after the handshake, and no data in it."""
        return self._without_data > _BYTES_WITHOUT_DATA_MAX

    @property
    def has_received(self) -> bool:
        """Whether bytes were received that are not decrypted."""
        return bool(self._incoming.pending or self._tls.pending())

    def step_handshake(self) -> bool:
        """Returns whether the handshake is done. Raises `ssl.SSLError`."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        self._without_data = 0
        return True

    def decrypt_into(self, buffer: bytearray | memoryview) -> int:
        """Fills the buffer as far as whole records were received. Raises `ssl.SSLError`."""
        view = memoryview(buffer)
        size, filled = len(view), 0
        read = self._tls.read
        try:
            # Each turn reads a record; librdkafka's have less than 2 KB, so the turns are many.
            while filled < size:
                # With a buffer it returns a number.
                length: int = read(size - filled, view[filled:])  # type: ignore[assignment]
                if not length:
                    self.is_at_end = True
                    break
                filled += length
        except ssl.SSLWantReadError:
            pass
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            self.is_at_end = True
        if filled:
            self._decrypted += filled
            self._without_data = 0
        return filled

    def encrypt(self, data: Buffer) -> int:
        """Encrypts all of it. Returns its length."""
        view = memoryview(data)
        written = 0
        write = self._tls.write
        while written < len(view):
            # A record at a time.
            written += write(view[written:])
        return written

    def take_encrypted(self) -> bytes:
        return self._outgoing.read() if self._outgoing.pending else _NOTHING

    def say_goodbye(self) -> None:
        """Adds the message that nothing follows."""
        # It would wait for the peer's message, which is not needed.
        with suppress(ssl.SSLError):
            self._tls.unwrap()

    def release(self) -> None:
        """Frees OpenSSL's memory, after which the session cannot be used. The connection is part of
        a reference cycle, so that it would stay until a full garbage collection."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        del self._tls

    @property
    def peer_certificate(self) -> bytes | None:
        """The peer's verified certificate (DER), or None."""
        return self._tls.getpeercert(binary_form=True)
