"""A client's connection to a node without a network: bytes in, bytes out, nothing in between."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterator, Sequence
from math import inf

from ottla.broker.network.client_session import ClientSession
from ottla.model import Buffer
from ottla.runtime.disk import File
from ottla.runtime.network import Address, ConnectionHandler
from tests.support.nodes.one_node import LISTENER, OneNode

_SIZE = struct.Struct(">i")
# Turns of the loop, and timers, after which whatever is still waiting waits for good.
_PATIENCE = 50


class FakeConnection:
    """The node's end. Answers pile up in `sent`; from `room_bytes` on the client is a slow one."""

    local_address = Address("192.0.2.2", 9092)
    peer_certificate: bytes | None = None

    def __init__(self, handler: ConnectionHandler, *, host: str, room_bytes: float) -> None:
        self.peer_address = Address(host, 50_000)
        self.sent = bytearray()
        self._handler = handler
        self._room_bytes = room_bytes
        self.is_reading = True
        self.is_closed = False

    def write(self, buffers: Sequence[Buffer]) -> None:
        if self.is_closed:
            return
        was_full = len(self.sent) > self._room_bytes
        self.sent += b"".join(buffers)
        if not was_full and len(self.sent) > self._room_bytes:
            self._handler.pause_writing()

    def send_file(self, file: File, *, position: int, length: int) -> None:
        data = file.read_at(position, length)
        assert len(data) == length, "the node promised more than the file has"
        self.write([data])

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def close(self) -> None:
        self.is_closed = True

    abort = close


class ClientStream:
    """Connected when made; `end` closes it, as the node sees it."""

    def __init__(
        self,
        node: OneNode,
        *,
        listener: str = LISTENER,
        host: str = "192.0.2.1",
        room_bytes: float = inf,
        certificate: bytes | None = None,
    ) -> None:
        self._node = node
        self._handler = node.broker.client_connection(listener, is_controller=False)
        self._connection = FakeConnection(self._handler, host=host, room_bytes=room_bytes)
        self._connection.peer_certificate = certificate
        self._handler.connected(self._connection)

    @property
    def is_closed(self) -> bool:
        return self._connection.is_closed

    @property
    def session(self) -> ClientSession:
        """The node's view of the client."""
        return self._handler.session

    @property
    def is_read_from(self) -> bool:
        return self._connection.is_reading

    @property
    def sent_bytes(self) -> int:
        return len(self._connection.sent)

    def feed(self, data: bytes, *, piece_bytes: int = 1 << 20) -> None:
        """Lets bytes arrive, and time pass until they are answered or will never be."""
        self._node.run(self._feed(memoryview(data), piece_bytes))

    def receive(self, data: bytes) -> None:
        """Lets bytes arrive, and no time pass."""

        async def receive() -> None:
            self._receive(memoryview(data))

        self._node.run(receive())

    def close_by_node(self) -> None:
        """The node closes the connection, and the client has not noticed yet."""
        self._handler.close()

    def when_closed(self, callback: Callable[[], None]) -> None:
        self._handler.when_closed(callback)

    def answers(self) -> list[bytes]:
        """The frames that were sent until now, without their sizes; nothing may be left over."""
        frames = list(split_frames(bytes(self._connection.sent)))
        self._connection.sent.clear()
        return frames

    def read_on(self) -> list[bytes]:
        """The answers that a slow client now takes, of which there will be more."""

        async def resume() -> None:
            self._handler.resume_writing()
            await self._settle()

        answers = self.answers()
        self._node.run(resume())
        return answers

    def break_off(self) -> None:
        """From now on whatever is written to the client fails."""
        self._connection.write = _fail  # type: ignore[method-assign]

    def end(self) -> None:
        self._handler.closed(None)

    def fail(self, error: Exception) -> None:
        """The connection ends with an error."""
        self._handler.closed(error)

    def _receive(self, data: memoryview) -> None:
        while data:
            buffer = self._handler.get_buffer(-1)
            assert buffer, "a buffer without room"
            size = min(len(buffer), len(data))
            buffer[:size] = data[:size]
            data = data[size:]
            self._handler.buffer_filled(size)

    async def _feed(self, data: memoryview, piece_bytes: int) -> None:
        while data and not self.is_closed:
            if not self._connection.is_reading:
                await self._settle()
            if not self._connection.is_reading:
                return
            buffer = self._handler.get_buffer(-1)
            assert buffer, "a buffer without room"
            size = min(len(buffer), len(data), piece_bytes)
            buffer[:size] = data[:size]
            data = data[size:]
            self._handler.buffer_filled(size)
        await self._settle()

    async def _settle(self) -> None:
        clock = self._node.clock
        for _ in range(_PATIENCE):
            await asyncio.sleep(0)  # noqa: TID251 - gives the node's tasks a turn
            deadline = clock.next_deadline()
            if deadline is not None:
                clock.advance(deadline - clock.monotonic())


def _fail(buffers: Sequence[Buffer]) -> None:
    raise OSError("broken on purpose")


def split_frames(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        (size,) = _SIZE.unpack_from(data, position)
        position += _SIZE.size + size
        assert size >= 0, f"a frame of {size} bytes"
        assert position <= len(data), "the last frame is cut off"
        yield data[position - size : position]
