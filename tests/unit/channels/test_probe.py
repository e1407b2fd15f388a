"""Whether a process has ended is known by its port, a moment after its connections."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from ottla.channels.probe import is_gone
from ottla.runtime.system_network import SystemNetwork
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.nodes.scripted_node import ScriptedNode, until

SECONDS = 1.0


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 20))


def silent() -> ScriptedNode:
    return ScriptedNode(lambda _request: None)


def test_a_closed_port_has_no_listener() -> None:
    async def scenario() -> None:
        node = silent()
        address = await node.listen()
        node.stop()
        clock = SimulatedClock()
        assert await is_gone(SystemNetwork(), clock, address, seconds=SECONDS)
        assert clock.monotonic() == 0.0

    run(scenario())


def test_who_lets_a_visitor_stay_is_there() -> None:
    async def scenario() -> None:
        node, clock, met = silent(), SimulatedClock(), list[str]()
        address = await node.listen()
        probe = is_gone(
            SystemNetwork(), clock, address, seconds=SECONDS, on_met=lambda: met.append("met")
        )
        visit = asyncio.ensure_future(probe)
        await until(lambda: node.connections and met)
        clock.advance(SECONDS)
        await until(lambda: not node.connections)
        clock.advance(SECONDS)
        assert not await visit
        assert met == ["met"]
        node.stop()

    run(scenario())


def test_who_lets_a_visitor_in_and_then_ends_is_gone() -> None:
    async def scenario() -> None:
        node, clock = silent(), SimulatedClock()
        address = await node.listen()
        visit = asyncio.ensure_future(is_gone(SystemNetwork(), clock, address, seconds=SECONDS))
        await until(lambda: node.connections)
        node.stop()
        while not visit.done():
            clock.advance(0.001)
            await asyncio.sleep(0)  # noqa: TID251 - real sockets
        assert await visit
        assert clock.monotonic() < SECONDS

    run(scenario())


def test_a_visit_that_is_called_off_leaves_no_connection() -> None:
    async def scenario() -> None:
        node, met = silent(), list[str]()
        address = await node.listen()
        probe = is_gone(
            SystemNetwork(),
            SimulatedClock(),
            address,
            seconds=SECONDS,
            on_met=lambda: met.append("met"),
        )
        visit = asyncio.ensure_future(probe)
        await until(lambda: node.connections and met)
        visit.cancel()
        await until(lambda: not node.connections)
        node.stop()

    run(scenario())
