"""A port that accepts while it is wanted and while the system lets it."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket  # noqa: TID251  to look at what the seam did
from typing import Any

import pytest

from ottla.runtime import system_listener
from ottla.runtime.network import Address, Connection
from ottla.runtime.system_listener import SystemListener
from ottla.runtime.system_network import SystemNetwork
from tests.support.event_loops import each_event_loop, run

__all__ = ["each_event_loop"]

ANY_PORT = Address("127.0.0.1", 0)


class Welcomed:
    """A handler that sends one byte to each client that connects."""

    def connected(self, connection: Connection) -> None:
        connection.write([b"!"])

    def get_buffer(self, size_hint: int) -> bytearray:
        return bytearray(1)

    def buffer_filled(self, length: int) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def closed(self, error: Exception | None) -> None: ...


async def connect(address: Address) -> socket.socket:
    client = socket.socket()
    client.setblocking(False)
    await asyncio.get_running_loop().sock_connect(client, address)
    return client


async def welcome(client: socket.socket) -> bytes:
    return await asyncio.get_running_loop().sock_recv(client, 1)


def is_ignored(client: socket.socket) -> bool:
    try:
        client.recv(1)
    except BlockingIOError:
        return True
    return False


def test_connections_wait_while_accepting_is_paused() -> None:
    async def scenario() -> None:
        listener = await SystemNetwork().listen(ANY_PORT, Welcomed)
        with await connect(listener.address) as first:
            assert await welcome(first) == b"!"
            listener.pause_accepting()
            with await connect(listener.address) as second:
                # The first is still answered by the same loop, so this had its chance.
                await asyncio.get_running_loop().sock_sendall(first, b"?")
                assert is_ignored(second)
                listener.resume_accepting()
                assert await welcome(second) == b"!"
        listener.close()

    run(scenario())


def test_a_handler_that_is_made_may_be_the_last() -> None:
    made = 0

    async def scenario() -> None:
        listener: SystemListener

        def make() -> Welcomed:
            nonlocal made
            made += 1
            if made == 3:
                listener.pause_accepting()
            return Welcomed()

        listener = await SystemNetwork().listen(ANY_PORT, make)
        # All of them are there before the loop has accepted the first.
        clients = [socket.create_connection(listener.address) for _ in range(10)]
        for client in clients:
            client.setblocking(False)
        for client in clients[:3]:
            assert await welcome(client) == b"!"
        assert made == 3
        listener.resume_accepting()
        for client in clients[3:]:
            assert await welcome(client) == b"!"
        for client in clients:
            client.close()
        listener.close()

    run(scenario())


class Exhausted(socket.socket):
    """A port of a process that has no descriptors left, once."""

    was_exhausted = False

    def accept(self) -> tuple[socket.socket, Any]:
        if not self.was_exhausted:
            self.was_exhausted = True
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def test_a_process_without_descriptors_accepts_again_when_it_has_some(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(system_listener, "_RETRY_SECONDS", 0.01)

    async def scenario() -> None:
        listening = Exhausted()
        listening.bind(ANY_PORT)
        listening.listen()
        listening.setblocking(False)
        address = Address(*listening.getsockname())
        listener = SystemListener(address, [listening], Welcomed)
        with await connect(address) as client:
            assert await welcome(client) == b"!"
        listener.close()

    with caplog.at_level(logging.WARNING):
        run(scenario())
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "cannot accept connections for now" in caplog.text


def test_a_peer_that_is_gone_before_it_is_accepted_is_no_error() -> None:
    reported: list[dict[str, Any]] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: reported.append(context))
        listener = await SystemNetwork().listen(ANY_PORT, Welcomed)
        for _ in range(5):
            with socket.create_connection(listener.address) as client:
                reset = (1).to_bytes(4, "little") + bytes(4)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        with await connect(listener.address) as client:
            assert await welcome(client) == b"!"
        listener.close()

    run(scenario())
    assert reported == []
