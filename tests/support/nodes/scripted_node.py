"""A node with answers that a test sets, on a real port of this host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from ottla.model import Buffer
from ottla.runtime.network import Address, Connection, Listener
from ottla.runtime.system_network import SystemNetwork
from ottla.wire.frames import FrameReader
from ottla.wire.requests import RequestHead, decode_request, encode_response
from ottla.wire.schema import Message


async def until(is_so: Callable[[], object]) -> None:
    """Lets the loop run until a condition holds for which there is no event."""
    while not is_so():  # noqa: ASYNC110 - what is looked at has no event
        await asyncio.sleep(0)  # noqa: TID251 - real sockets, no seam


ANY_PORT = Address("127.0.0.1", 0)


class ScriptedConnection:
    """One client's connection; `requests` are those that came, answered or not."""

    def __init__(self, node: ScriptedNode) -> None:
        self._node = node
        self._frames = FrameReader(frame_bytes_max=1 << 20)
        self.requests: list[tuple[RequestHead, Message]] = []
        self.connection: Connection

    def connected(self, connection: Connection) -> None:
        self.connection = connection
        self._node.connections.append(self)

    def get_buffer(self, size_hint: int) -> memoryview:
        return self._frames.get_buffer()

    def buffer_filled(self, length: int) -> None:
        self._frames.buffer_filled(length)
        while (frame := self._frames.next_frame()) is not None:
            head, request = decode_request(frame)
            self.requests.append((head, request))
            answer = self._node.answer(request)
            if answer is not None:
                self.answer(head, answer)

    def answer(self, head: RequestHead, response: Message) -> None:
        parts = encode_response(response, head.api_version, correlation_id=head.correlation_id)
        self.connection.write([b"".join(cast(list[Buffer], parts))])

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def closed(self, error: Exception | None) -> None:
        self._node.connections.remove(self)


class ScriptedNode:
    """`answer` says what a request is answered with at once, None for not at once."""

    def __init__(self, answer: Callable[[Message], Message | None] = lambda _request: None) -> None:
        self.answer = answer
        self.connections: list[ScriptedConnection] = []
        self._listener: Listener

    async def listen(self, address: Address = ANY_PORT) -> Address:
        self._listener = await SystemNetwork().listen(address, lambda: ScriptedConnection(self))
        return self._listener.address

    def stop(self) -> None:
        """Closes the port and every connection, as a process that dies does."""
        self._listener.close()
        for each in list(self.connections):
            each.connection.abort()
