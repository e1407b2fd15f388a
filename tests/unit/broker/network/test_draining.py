"""How long a node that stops waits for its clients."""

from __future__ import annotations

import asyncio

import pytest

from ottla.broker.network.connections import Connections
from ottla.broker.network.draining import close_connections
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.storage.held_background import settle


class Visitor:
    """A connection that closes when the test says that its client has read everything."""

    last_active = 0.0
    listener = "PLAINTEXT"

    def __init__(self, connections: Connections) -> None:
        self.is_closing = False
        self.is_aborted = False
        self._connections = connections
        connections.add(self)

    @property
    def waiting_apis(self) -> list[str]:
        return []

    def close(self) -> None:
        self.is_closing = True

    def leave(self) -> None:
        self._connections.discard(self)

    def abort(self) -> None:
        self.is_aborted = True
        self.leave()


def test_node_waits_for_clients_that_read_and_not_for_those_that_come_meanwhile() -> None:
    async def play() -> None:
        connections, clock = Connections(), SimulatedClock()
        reader = Visitor(connections)
        closing = asyncio.ensure_future(close_connections(connections, clock))
        await settle()
        assert reader.is_closing
        late = Visitor(connections)
        reader.leave()
        clock.advance(0.01)
        await settle()
        assert closing.done()
        assert late.is_aborted
        assert not reader.is_aborted

    asyncio.run(play())


def test_node_does_not_wait_for_long_for_clients_that_do_not_read() -> None:
    async def play() -> None:
        connections, clock = Connections(), SimulatedClock()
        reader = Visitor(connections)
        closing = asyncio.ensure_future(close_connections(connections, clock))
        await settle()
        while not closing.done():
            clock.advance(0.01)
            await settle()
        assert reader.is_aborted
        assert clock.monotonic() == pytest.approx(1.0, abs=0.05)

    asyncio.run(play())
