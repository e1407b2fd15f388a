"""One end of a simulated connection, with the buffers of the kernel and of asyncio.

Written bytes wait here while the other end's receive window is full; the window opens again when
the other end's application reads. If a process is killed, its kernel resets the connection. If a
host loses power, the peer gets no notification: it receives a reset only after the host is back and
the peer sends something to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ottla.model.buffers import Buffer
from ottla.runtime.disk import File
from ottla.runtime.network import Address, ConnectionHandler
from ottla.simulation.network.fabric import Fabric
from ottla.simulation.network.stream import Ending, Stream
from ottla.simulation.seams.loop import SimulatedLoop

# The bytes that both kernels buffer before the writer's process has to buffer.
_WINDOW_BYTES: Final = 256 * 1024
_HIGH_WATER_BYTES: Final = 64 * 1024
_LOW_WATER_BYTES: Final = 16 * 1024


class SimulatedConnection:
    """Made in pairs by `connected_pair`. Calls its handler only on its process's loop."""

    def __init__(
        self,
        loop: SimulatedLoop,
        *,
        local: Address,
        peer: Address,
        forget: Callable[[SimulatedConnection], None],
    ) -> None:
        self._loop = loop
        self._local = local
        self._peer = peer
        self._forget = forget
        self._handler: ConnectionHandler | None = None
        # Written by this process, not yet accepted by the kernel.
        self._unsent = bytearray()
        self._window = _WINDOW_BYTES
        # Received but not yet read.
        self._received = bytearray()
        self._is_peer_done = False
        self._is_reading = True
        self._is_read_due = False
        self._is_writing_paused = False
        self._is_closing = False
        # Whether the kernel still has this connection.
        self._exists = True
        self._was_notified_closed = False
        self._error: Exception | None = None
        self.other: SimulatedConnection
        self.outgoing: Stream

    @property
    def peer_address(self) -> Address:
        return self._peer

    @property
    def local_address(self) -> Address:
        return self._local

    @property
    def peer_certificate(self) -> bytes | None:
        return None

    # ---- the process's side

    def open(self, handler: ConnectionHandler) -> None:
        """Attaches the process's handler. Call it on the process's loop."""
        self._handler = handler
        self._call_handler(lambda: handler.connected(self))
        if not self._exists:
            # The connection ended before the process accepted it.
            self._loop.call_soon(self._notify_closed, self._error)
        self._read_soon()

    def write(self, buffers: Sequence[Buffer]) -> None:
        if self._is_closing or self._loop.has_ended:
            return
        if not self._unsent and self._exists:
            # Common case: the window has room for everything.
            data = b"".join(buffers)
            if len(data) <= self._window:
                if data:
                    self._window -= len(data)
                    self.outgoing.send(data)
                return
        for buffer in buffers:
            self._unsent += buffer
        self._push()
        self._notify_backpressure()

    def send_file(self, file: File, *, position: int, length: int) -> None:
        data = file.read_cached(position, length) or file.read_at(position, length)
        self.write([data])
        if len(data) < length:
            self._end(EOFError(f"the file to send ended {length - len(data)} bytes early"))

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        self._is_reading = True
        self._read_soon()

    def close(self) -> None:
        if self._is_closing or self._loop.has_ended:
            return
        self._is_closing = True
        self._maybe_finish()

    def abort(self) -> None:
        self._end(None)

    def _push(self) -> None:
        """Sends as many unsent bytes as the window allows."""
        length = min(len(self._unsent), self._window)
        if length and self._exists:
            self._window -= length
            self.outgoing.send(bytes(self._unsent[:length]))
            del self._unsent[:length]

    def _maybe_finish(self) -> None:
        if self._is_closing and not self._unsent and self._exists:
            self.outgoing.finish()
            self._gone(None)

    def _end(self, error: Exception | None) -> None:
        if not self._exists or self._loop.has_ended:
            return
        self._is_closing = True
        self._unsent.clear()
        self.outgoing.finish()
        self._gone(error)

    def _gone(self, error: Exception | None) -> None:
        """Ends sending and receiving, and schedules the handler's `closed` callback."""
        self._exists = False
        self._is_closing = True
        self._received.clear()
        self._forget(self)
        self._loop.call_soon(self._notify_closed, error)

    def _notify_closed(self, error: Exception | None) -> None:
        if self._handler is not None and not self._was_notified_closed:
            self._was_notified_closed = True
            self._handler.closed(error)

    def _notify_backpressure(self) -> None:
        waiting = len(self._unsent)
        if self._handler is None or self._was_notified_closed:
            return
        if not self._is_writing_paused and waiting > _HIGH_WATER_BYTES:
            self._is_writing_paused = True
            self._handler.pause_writing()
        elif self._is_writing_paused and waiting <= _LOW_WATER_BYTES:
            self._is_writing_paused = False
            self._handler.resume_writing()

    # ---- reading

    def _read_soon(self) -> None:
        if self._is_read_due or self._handler is None or not self._is_reading:
            return
        if self._exists and (self._received or self._is_peer_done):
            self._is_read_due = True
            self._loop.call_soon(self._read)

    def _read(self) -> None:
        self._is_read_due = False
        handler = self._handler
        if handler is None or not self._exists or self._is_closing or not self._is_reading:
            return
        if not self._received:
            # The peer has finished sending: send what is still unsent, then close.
            self.close()
            return

        self._call_handler(self._fill)
        self._read_soon()

    def _fill(self) -> None:
        handler, received = self._handler, self._received
        assert handler is not None
        buffer = handler.get_buffer(-1)
        length = min(len(buffer), len(received))
        if length == len(received):
            buffer[:length] = received
            received.clear()
        else:
            buffer[:length] = received[:length]
            del received[:length]
        self.other.window_opened(length)
        handler.buffer_filled(length)

    def _call_handler(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as error:
            self._loop.call_exception_handler({"message": "a handler failed", "exception": error})
            self._end(error)

    # ---- the kernel's side

    def window_opened(self, length: int) -> None:
        """The other end has read this many bytes."""
        self._window += length
        if self._exists and self._unsent:
            self._push()
            self._loop.call_soon(self._room_made)

    def _room_made(self) -> None:
        if self._exists:
            self._notify_backpressure()
            self._maybe_finish()

    def arrived(self, item: bytes | Ending) -> None:
        if not self._exists:
            if isinstance(item, bytes):
                # The connection no longer exists here: answer with a reset.
                self.outgoing.reset()
        elif item is Ending.RESET:
            self.reset(ConnectionResetError("connection reset by peer"))
        elif item is Ending.FINISHED:
            self._is_peer_done = True
            self._read_soon()
        else:
            assert isinstance(item, bytes)
            self._received += item
            self._read_soon()

    def reset(self, error: Exception) -> None:
        """Ends this side after the peer's reset or an error."""
        if self._exists:
            self._unsent.clear()
            self._error = error
            self._gone(error)

    def process_ended(self) -> None:
        """The kernel resets the connections of an ended process."""
        if self._exists:
            self._exists = False
            self.outgoing.reset()

    def power_lost(self) -> None:
        self._exists = False
        self.outgoing.lose()


def connected_pair(
    fabric: Fabric, client: SimulatedConnection, server: SimulatedConnection
) -> None:
    """Connects two ends to each other."""
    client.other, server.other = server, client
    hosts = client.local_address.host, server.local_address.host
    client.outgoing = Stream(fabric, hosts[0], hosts[1], server.arrived)
    server.outgoing = Stream(fabric, hosts[1], hosts[0], client.arrived)
