"""One TLS connection, as a layer over a connection of the network.

    handshaking ──done──▶ open ──close──▶ draining ──▶ closed
         │                  │                            ▲
         └──────refused, late, invalid record────────────┘

To the network it is the handler of a connection, to its own handler it is the connection. OpenSSL
encrypts and decrypts in memory; only encrypted bytes are passed to the connection below, never a
file. Received bytes are decrypted straight into the handler's buffer.

Memory BIOs were chosen by measuring: 0.46 s of processor time per GB received and 0.39 per GB sent,
where SSL sockets take 0.60 and 0.54 (two system calls for each record of 16 KB) and asyncio's own
TLS 0.76.

The peer can make OpenSSL hold one record at most: what the handler does not take stays encrypted,
and the connection below stops reading. What is sent is encrypted in turns of limited length, and
only while the peer reads. A peer that sends no data, such as key updates without end, is processed
in small steps, and then closed.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Sequence
from typing import Final

from ottla.model.buffers import Buffer
from ottla.runtime.disk import File
from ottla.runtime.network import Address, Connection, ConnectionHandler
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.runtime.tls.failure_text import failure_text
from ottla.runtime.tls.outgoing import OutgoingBuffers, OutgoingFile
from ottla.runtime.tls.session import TlsSession

# Encrypting this much takes about half a millisecond.
_TURN_BYTES: Final = 1 << 20


class TlsConnection:
    """Made for one connection, by `TlsEndpoint`. The handler's `connected` is called when the
    connection below is made; what it writes is sent after the handshake. The handler receives
    nothing before the handshake has succeeded."""

    def __init__(
        self, handler: ConnectionHandler, session: TlsSession, *, handshake_seconds_max: float
    ) -> None:
        self._handler = handler
        self._session = session
        self._handshake_seconds_max = handshake_seconds_max
        self._loop = asyncio.get_running_loop()
        self._established: asyncio.Future[None] = self._loop.create_future()
        self._deadline: asyncio.TimerHandle | None = None
        self._queue: deque[OutgoingBuffers | OutgoingFile] = deque()
        self._error: Exception | None = None
        self._is_open = False
        self._has_decrypted = False
        self._is_closing = False
        self._is_reading_paused = False
        self._is_lower_full = False
        self._is_writing_paused = False
        self._is_turn_scheduled = False

    # ---- the connection, as the handler sees it

    @property
    def peer_address(self) -> Address:
        return self._lower.peer_address

    @property
    def local_address(self) -> Address:
        return self._lower.local_address

    @property
    def peer_certificate(self) -> bytes | None:
        """The peer's verified certificate (DER), or None."""
        return self._session.peer_certificate

    def write(self, buffers: Sequence[Buffer]) -> None:
        if not self._is_closing:
            self._queue.append(OutgoingBuffers(buffers))
            self._send_turn()

    def send_file(self, file: File, *, position: int, length: int) -> None:
        if self._is_closing or not length:
            return
        self._queue.append(OutgoingFile.of(file, position=position, length=length))
        self._send_turn()

    def pause_reading(self) -> None:
        self._is_reading_paused = True
        self._lower.pause_reading()

    def resume_reading(self) -> None:
        self._is_reading_paused = False
        self._lower.resume_reading()
        if self._is_open and self._session.has_received:
            self._loop.call_soon(self._decrypt)

    def close(self) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        if not self._is_open:
            self._lower.abort()
        elif not self._queue:
            self._finish()

    def abort(self) -> None:
        self._is_closing = True
        self._lower.abort()

    # ---- the handler, as the connection below sees it

    def connected(self, connection: Connection) -> None:
        self._lower = connection
        self._deadline = self._loop.call_later(self._handshake_seconds_max, self._give_up)
        self._handler.connected(self)
        if not self._is_closing:
            self._shake_hands()

    def get_buffer(self, size_hint: int) -> memoryview:  # noqa: ARG002 - the seam's signature
        return self._session.receive_buffer

    def buffer_filled(self, length: int) -> None:
        self._session.received(length)
        if not self._is_open:
            self._shake_hands()
        if self._is_open:
            self._decrypt()

    def pause_writing(self) -> None:
        self._is_lower_full = True
        self._report_pressure()

    def resume_writing(self) -> None:
        self._is_lower_full = False
        self._send_turn()

    def closed(self, error: Exception | None) -> None:
        self._is_closing = True
        self._is_open = False
        self._stop_deadline()
        while self._queue:
            self._queue.popleft().close()
        self._session.release()
        if not self._established.done():
            failure = _handshake_error(self._error or error)
            self._established.set_exception(failure)
            # It is retrieved only where this side connected.
            self._established.exception()
            if self._error is not None:
                self._error = failure
        self._handler.closed(self._error or error)

    async def wait_established(self) -> None:
        """Returns after the handshake. Raises TlsHandshakeError."""
        await asyncio.shield(self._established)

    # ----

    def _shake_hands(self) -> None:
        try:
            is_done = self._session.step_handshake()
        except ssl.SSLError as error:
            self._fail(error)
            return
        self._flush()
        if is_done and not self._is_closing:
            self._is_open = True
            self._stop_deadline()
            if not self._established.done():
                self._established.set_result(None)
            self._send_turn()

    def _give_up(self) -> None:
        self._fail(TimeoutError(f"no TLS handshake within {self._handshake_seconds_max:g} s"))

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _fail(self, error: Exception) -> None:
        """Sends the alert that names the reason, and closes."""
        self._error = self._error or error
        self._is_closing = True
        self._flush()
        self._lower.close()

    def _decrypt(self) -> None:
        """Passes on what was received until the handler pauses or nothing whole is left."""
        session, handler = self._session, self._handler
        try:
            while not (self._is_reading_paused or self._is_closing):
                length = session.decrypt_into(handler.get_buffer(-1))
                if length:
                    self._has_decrypted = True
                    handler.buffer_filled(length)
                if session.is_at_end:
                    self.close()
                if not length:
                    break
            if session.is_abused and not self._is_reading_paused:
                self._fail(ConnectionAbortedError("the peer sends TLS messages without data"))
                return
        except ssl.SSLError as error:
            # With TLS 1.3, a server that refuses this side's certificate says so only now.
            is_refusal = not self._has_decrypted and "ALERT" in (error.reason or "")
            self._fail(_handshake_error(error) if is_refusal else error)
            return
        # A key update is answered.
        self._flush()

    def _send_turn(self) -> None:
        """Encrypts and sends for a turn; the rest follows when others had theirs."""
        left = _TURN_BYTES
        try:
            while self._queue and self._is_open and not self._is_lower_full and left > 0:
                piece = self._queue[0]
                left -= self._session.encrypt(piece.next_bytes())
                self._flush()
                if piece.is_sent:
                    self._queue.popleft().close()
        except (OSError, EOFError) as error:
            self._error = error
            self.abort()
            return
        if self._queue and self._is_open and not self._is_lower_full:
            self._schedule_turn()
        elif self._is_closing and self._is_open and not self._queue:
            self._finish()
        self._report_pressure()

    def _schedule_turn(self) -> None:
        if not self._is_turn_scheduled:
            self._is_turn_scheduled = True
            self._loop.call_soon(self._begin_turn)

    def _begin_turn(self) -> None:
        self._is_turn_scheduled = False
        self._send_turn()

    def _flush(self) -> None:
        encrypted = self._session.take_encrypted()
        if encrypted:
            self._lower.write([encrypted])

    def _finish(self) -> None:
        self._is_open = False
        self._session.say_goodbye()
        self._flush()
        self._lower.close()

    def _report_pressure(self) -> None:
        is_full = self._is_lower_full or (self._is_open and bool(self._queue))
        if is_full != self._is_writing_paused and self._is_open:
            self._is_writing_paused = is_full
            if is_full:
                self._handler.pause_writing()
            else:
                self._handler.resume_writing()


def _handshake_error(cause: Exception | None) -> TlsHandshakeError:
    is_untrusted = isinstance(cause, ssl.SSLCertVerificationError)
    return TlsHandshakeError(
        f"the TLS handshake failed: {failure_text(cause)}", is_untrusted=is_untrusted
    )
