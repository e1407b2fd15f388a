"""Streams between simulated hosts: whole and in order, or ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from ottla.runtime.network import Address, Connection
from ottla.simulation import World
from ottla.simulation.world.host import Host

PORT = 9092


class Peer:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.is_closed = False
        self.error: Exception | None = None
        self.pressure: list[str] = []
        self.connection: Connection

    def connected(self, connection: Connection) -> None:
        self.connection = connection

    def get_buffer(self, size_hint: int) -> bytearray:
        self._buffer = bytearray(1 << 16)
        return self._buffer

    def buffer_filled(self, length: int) -> None:
        self.received += self._buffer[:length]

    def pause_writing(self) -> None:
        self.pressure.append("full")

    def resume_writing(self) -> None:
        self.pressure.append("empty")

    def closed(self, error: Exception | None) -> None:
        self.is_closed, self.error = True, error


class Pair:
    """A connection from the story's host to another."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.server_host = world.host("server")
        self.server = Peer()
        self.client = Peer()

    async def connect(self) -> None:
        await self.listen()
        await self.world.here.network.connect(Address("server", PORT), self.client)
        await self.until(lambda: hasattr(self.server, "connection"))

    async def listen(self) -> None:
        network = self.server_host.network
        await network.listen(Address("server", PORT), lambda: self.server)

    async def until(self, is_so: Callable[[], bool]) -> None:
        await self.world.wait_until(is_so, seconds=60)


def play(story: Callable[[Pair], Coroutine[None, None, None]]) -> None:
    World(seed=1).run(lambda world: story(Pair(world)))


def test_bytes_arrive_whole_and_in_order() -> None:
    async def story(pair: Pair) -> None:
        await pair.connect()
        sent = b"".join(b"%d," % number for number in range(5_000))
        for at in range(0, len(sent), 1_000):
            pair.client.connection.write([sent[at : at + 1_000]])
        await pair.until(lambda: bytes(pair.server.received) == sent)

    play(story)


def test_a_port_without_a_listener_refuses() -> None:
    async def story(pair: Pair) -> None:
        with pytest.raises(ConnectionRefusedError):
            await pair.world.here.network.connect(Address("server", PORT), pair.client)

    play(story)


def test_a_peer_that_does_not_read_fills_the_writers_buffer() -> None:
    async def story(pair: Pair) -> None:
        await pair.connect()
        pair.server.connection.pause_reading()
        pair.client.connection.write([bytes(1 << 20)])
        assert pair.client.pressure == ["full"]
        await pair.world.sleep(1)
        assert pair.client.pressure == ["full"]
        pair.server.connection.resume_reading()
        await pair.until(lambda: len(pair.server.received) == 1 << 20)
        assert pair.client.pressure == ["full", "empty"]

    play(story)


def test_closing_sends_what_was_written_before() -> None:
    async def story(pair: Pair) -> None:
        await pair.connect()
        pair.client.connection.write([b"last words"])
        pair.client.connection.close()
        await pair.until(lambda: pair.server.is_closed)
        assert pair.server.received == b"last words"
        assert pair.server.error is None

    play(story)


def test_what_is_sent_over_a_cut_link_arrives_when_it_heals() -> None:
    async def story(pair: Pair) -> None:
        await pair.connect()
        pair.world.fabric.cut("story", "server")
        pair.client.connection.write([b"late"])
        pair.server.connection.write([b"the other way"])
        await pair.until(lambda: bool(pair.client.received))
        await pair.world.sleep(30)
        assert not pair.server.received
        pair.world.fabric.heal("story", "server")
        await pair.until(lambda: pair.server.received == b"late")

    play(story)


def test_the_peer_of_a_killed_process_is_notified() -> None:
    async def story(pair: Pair) -> None:
        await pair.connect()
        pair.server_host.kill()
        await pair.until(lambda: pair.client.is_closed)
        assert isinstance(pair.client.error, ConnectionResetError)
        assert not pair.server.is_closed, "a killed process is told nothing"

    play(story)


def test_the_peer_of_a_host_without_power_learns_of_it_when_it_is_back() -> None:
    async def story(pair: Pair) -> None:
        await pair.connect()
        pair.server_host.lose_power()
        pair.client.connection.write([b"is anybody there?"])
        await pair.world.sleep(60)
        assert not pair.client.is_closed, "half open"
        pair.server_host.start_process()
        await pair.until(lambda: pair.client.is_closed)
        assert isinstance(pair.client.error, ConnectionResetError)

    play(story)


def test_a_paused_process_accepts_and_receives_later() -> None:
    async def story(pair: Pair) -> None:
        await pair.listen()
        pair.server_host.pause()
        await pair.world.here.network.connect(Address("server", PORT), pair.client)
        pair.client.connection.write([b"patience"])
        await pair.world.sleep(5)
        assert not hasattr(pair.server, "connection")
        pair.server_host.resume()
        await pair.until(lambda: pair.server.received == b"patience")

    play(story)


def test_an_abandoned_connection_attempt_is_cancelled() -> None:
    async def story(pair: Pair) -> None:
        await pair.listen()
        pair.world.fabric.cut("server", "story")
        attempt = pair.world.here.run("connect", _connect(pair.world.here, pair.client))
        await pair.world.sleep(1)
        attempt.cancel()
        pair.world.fabric.heal_all()
        await pair.until(lambda: pair.server.is_closed)
        assert not hasattr(pair.client, "connection")

    play(story)


async def _connect(host: Host, peer: Peer) -> None:
    try:
        await host.network.connect(Address("server", PORT), peer)
    except asyncio.CancelledError:
        raise
