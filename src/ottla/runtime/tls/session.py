"""One TLS session in memory: encrypted bytes in and out, decrypted bytes in and out."""

from __future__ import annotations

import ssl
from contextlib import suppress
from typing import Final

from ottla.model.buffers import Buffer

_RECEIVE_BYTES: Final = 256 * 1024
# A receive is finished before the next one of any session begins, so all share one buffer.
_receive_buffer = memoryview(bytearray(_RECEIVE_BYTES))
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

    @property
    def receive_buffer(self) -> memoryview:
        """The buffer for the next encrypted bytes, valid until `received`."""
        return _receive_buffer

    def received(self, length: int) -> None:
        self._incoming.write(_receive_buffer[:length])

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
        """Drops what was received and not decrypted."""
        self._incoming.read()

    @property
    def peer_certificate(self) -> bytes | None:
        """The peer's verified certificate (DER), or None."""
        return self._tls.getpeercert(binary_form=True)
