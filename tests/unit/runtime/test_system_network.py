"""Streams over real sockets of this host: order, pressure, files, and every way to end."""

from __future__ import annotations

import asyncio
import os
import socket  # noqa: TID251  to look at what the seam did
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ottla.runtime.network import Address, Connection, ConnectionHandler, Network
from ottla.runtime.system_disk import SystemDisk, SystemFile
from ottla.runtime.system_network import SystemNetwork
from ottla.simulation import SimulatedDisk
from tests.support.event_loops import each_event_loop, run

__all__ = ["each_event_loop"]

ANY_PORT = Address("127.0.0.1", 0)
# Both ends, and the one that listens.
SOCKETS_OF_A_PAIR = 3
MUCH = 8 << 20


class Recorder:
    """A handler that records its calls."""

    def __init__(self) -> None:
        self.connection: Connection
        self.received = bytearray()
        self.pressure: list[str] = []
        self.error: Exception | None = None
        self.is_connected = asyncio.Event()
        self.is_closed = asyncio.Event()
        self._buffer = bytearray(1 << 16)
        self._arrived = asyncio.Event()

    def connected(self, connection: Connection) -> None:
        self.connection = connection
        self.is_connected.set()

    def get_buffer(self, size_hint: int) -> bytearray:
        return self._buffer

    def buffer_filled(self, length: int) -> None:
        self.received += self._buffer[:length]
        self._arrived.set()

    def pause_writing(self) -> None:
        self.pressure.append("pause")

    def resume_writing(self) -> None:
        self.pressure.append("resume")

    def closed(self, error: Exception | None) -> None:
        self.error = error
        self.is_closed.set()

    async def wait_received(self, length: int) -> bytes:
        while len(self.received) < length:
            self._arrived.clear()
            await self._arrived.wait()
        return bytes(self.received)


async def connected_pair(
    server: ConnectionHandler | None = None,
) -> tuple[Recorder, Recorder, Callable[[], None]]:
    """Both ends of a new connection, and what stops listening."""
    network: Network = SystemNetwork()
    accepted = server or Recorder()
    listener = await network.listen(ANY_PORT, lambda: accepted)
    client = Recorder()
    await network.connect(listener.address, client)
    assert isinstance(accepted, Recorder)
    await accepted.is_connected.wait()
    return client, accepted, listener.close


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def file(tmp_path: Path) -> SystemFile:
    file = SystemDisk().open(f"{tmp_path}/file", create=True)
    file.write_at(0, [bytes(range(256)) * (MUCH // 256)])
    return file


def test_bytes_go_both_ways_and_each_side_knows_the_other() -> None:
    async def scenario() -> None:
        client, server, stop = await connected_pair()
        client.connection.write([b"one ", bytearray(b"question"), memoryview(b"!")])
        assert await server.wait_received(13) == b"one question!"
        server.connection.write([b"answer"])
        assert await client.wait_received(6) == b"answer"
        assert client.connection.peer_address == server.connection.local_address
        assert server.connection.peer_address == client.connection.local_address
        client.connection.close()
        await server.is_closed.wait()
        assert server.error is None
        stop()

    run(scenario())


def test_any_port_is_one_port_on_every_interface() -> None:
    async def scenario() -> None:
        listener = await SystemNetwork().listen(Address("", 0), Recorder)
        assert listener.address.port > 0
        for host in ("127.0.0.1", "localhost"):
            connection = await SystemNetwork().connect(
                Address(host, listener.address.port), Recorder()
            )
            connection.abort()
        listener.close()

    run(scenario())


def test_small_packets_are_not_held_back() -> None:
    async def scenario() -> None:
        client, server, stop = await connected_pair()
        for end in (client, server):
            descriptor = end.connection._descriptor  # type: ignore[attr-defined]
            with socket.socket(fileno=os.dup(descriptor)) as duplicate:
                assert duplicate.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        client.connection.abort()
        server.connection.abort()
        stop()

    run(scenario())


def test_a_peer_that_does_not_read_is_felt_and_gets_everything_when_it_does() -> None:
    async def scenario() -> None:
        client, server, stop = await connected_pair()
        client.connection.pause_reading()
        pieces = [bytes([number % 256]) * 1000 for number in range(MUCH // 1000)]
        for start in range(0, len(pieces), 2000):
            server.connection.write(pieces[start : start + 2000])
        assert server.pressure == ["pause"]
        client.connection.resume_reading()
        assert await client.wait_received(1000 * len(pieces)) == b"".join(pieces)
        assert server.pressure == ["pause", "resume"]
        server.connection.close()
        await client.is_closed.wait()
        stop()

    run(scenario())


def test_a_file_is_sent_in_its_place_among_the_writes(file: SystemFile) -> None:
    async def scenario() -> None:
        before = descriptors()
        client, server, stop = await connected_pair()
        server.connection.write([b"header"])
        server.connection.send_file(file, position=256, length=MUCH - 512)
        server.connection.write([b"next"])
        server.connection.send_file(file, position=0, length=3)
        server.connection.send_file(file, position=0, length=0)
        file.close()
        expected = b"header" + bytes(range(256)) * (MUCH // 256 - 2) + b"next\0\1\2"
        assert await client.wait_received(len(expected)) == expected
        assert server.pressure in (["pause", "resume"], [])
        server.connection.close()
        await client.is_closed.wait()
        await server.is_closed.wait()
        stop()
        assert descriptors() <= before

    run(scenario())


def test_closing_sends_the_file_that_is_on_its_way_first(file: SystemFile) -> None:
    async def scenario() -> None:
        client, server, stop = await connected_pair()
        client.connection.pause_reading()
        server.connection.send_file(file, position=0, length=MUCH)
        server.connection.write([b"end"])
        assert server.pressure == ["pause"]
        server.connection.close()
        server.connection.write([b"dropped"])
        client.connection.resume_reading()
        assert (await client.wait_received(MUCH + 3))[-3:] == b"end"
        await client.is_closed.wait()
        assert len(client.received) == MUCH + 3
        stop()

    run(scenario())


def test_reading_stays_paused_over_a_file(file: SystemFile) -> None:
    async def scenario() -> None:
        client, server, stop = await connected_pair()
        client.connection.pause_reading()
        server.connection.pause_reading()
        server.connection.send_file(file, position=0, length=MUCH)
        client.connection.write([b"not now"])
        client.connection.resume_reading()
        await client.wait_received(MUCH)
        client.connection.write([b" and not yet"])
        server.connection.write([b"."])
        await client.wait_received(MUCH + 1)
        assert server.received == b""
        server.connection.resume_reading()
        assert await server.wait_received(19) == b"not now and not yet"
        client.connection.abort()
        stop()

    run(scenario())


def test_aborting_in_the_middle_of_a_file_leaves_nothing_open(file: SystemFile) -> None:
    async def scenario() -> None:
        client, server, stop = await connected_pair()
        others = descriptors() - SOCKETS_OF_A_PAIR
        server.connection.send_file(file, position=0, length=MUCH)
        server.connection.send_file(file, position=0, length=MUCH)
        await client.wait_received(1)
        server.connection.abort()
        await server.is_closed.wait()
        await client.is_closed.wait()
        stop()
        assert server.error is None
        assert len(client.received) < 2 * MUCH
        assert descriptors() == others

    run(scenario())


def test_a_file_that_is_shorter_than_promised_ends_the_connection(file: SystemFile) -> None:
    async def scenario() -> None:
        client, server, stop = await connected_pair()
        server.connection.send_file(file, position=MUCH - 10, length=20)
        await server.is_closed.wait()
        assert isinstance(server.error, EOFError)
        assert "10 bytes early" in str(server.error)
        await client.is_closed.wait()
        stop()

    run(scenario())


def test_a_file_without_a_descriptor_is_sent_all_the_same() -> None:
    async def scenario() -> None:
        simulated = SimulatedDisk().open("/log", create=True)
        simulated.write_at(0, [b"0123456789"])
        client, server, stop = await connected_pair()
        server.connection.send_file(simulated, position=2, length=5)
        assert await client.wait_received(5) == b"23456"
        server.connection.abort()
        stop()

    run(scenario())


def test_a_peer_that_sends_no_more_still_gets_what_was_written() -> None:
    async def scenario() -> None:
        client, server, stop = await connected_pair()
        client.connection.pause_reading()
        server.connection.write([bytes(MUCH)])
        with socket.socket(
            fileno=os.dup(client.connection._descriptor)  # type: ignore[attr-defined]
        ) as duplicate:
            duplicate.shutdown(socket.SHUT_WR)
        client.connection.resume_reading()
        await client.wait_received(MUCH)
        await client.is_closed.wait()
        await server.is_closed.wait()
        assert server.error is None
        stop()

    run(scenario())


def test_a_reset_is_passed_on_as_an_error() -> None:
    async def scenario() -> None:
        server = Recorder()
        listener = await SystemNetwork().listen(ANY_PORT, lambda: server)
        with socket.create_connection(listener.address) as peer:
            await server.is_connected.wait()
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await server.is_closed.wait()
        assert isinstance(server.error, ConnectionResetError)
        server.connection.write([b"does nothing"])
        server.connection.close()
        listener.close()

    run(scenario())


@pytest.mark.parametrize("method", ["connected", "buffer_filled"])
def test_a_handler_that_fails_ends_its_connection_with_that_error(method: str) -> None:
    class Failing(Recorder):
        def connected(self, connection: Connection) -> None:
            super().connected(connection)
            if method == "connected":
                raise ValueError("broken handler")

        def buffer_filled(self, length: int) -> None:
            raise ValueError("broken handler")

    async def scenario() -> None:
        reported: list[dict[str, Any]] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: reported.append(context))
        client, server, stop = await connected_pair(Failing())
        client.connection.write([b"x"])
        await server.is_closed.wait()
        await client.is_closed.wait()
        assert isinstance(server.error, ValueError)
        assert len(reported) == 1
        stop()

    run(scenario())


def test_a_port_without_a_listener_refuses() -> None:
    async def scenario() -> None:
        listener = await SystemNetwork().listen(ANY_PORT, Recorder)
        listener.close()
        with pytest.raises(ConnectionRefusedError):
            await SystemNetwork().connect(listener.address, Recorder())

    run(scenario())


def test_a_port_that_is_taken_cannot_be_listened_on() -> None:
    async def scenario() -> None:
        listener = await SystemNetwork().listen(ANY_PORT, Recorder)
        with pytest.raises(OSError, match="address already in use"):
            await SystemNetwork().listen(listener.address, Recorder)
        listener.close()

    run(scenario())


def test_an_address_of_another_host_cannot_be_listened_on() -> None:
    async def scenario() -> None:
        with pytest.raises(OSError, match="this host has no address"):
            await SystemNetwork().listen(Address("203.0.113.1", 0), Recorder)

    run(scenario())


def test_connections_outlive_their_listener() -> None:
    async def scenario() -> None:
        client, server, stop = await connected_pair()
        stop()
        client.connection.write([b"still here"])
        assert await server.wait_received(10) == b"still here"
        client.connection.close()
        await server.is_closed.wait()

    run(scenario())
