"""A peer is connected to when needed, again after it was lost, and not too often."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from ottla.channels import ChannelError, Peer, ReconnectBackoff, versions
from ottla.runtime.network import Address
from ottla.runtime.system_network import SystemNetwork
from ottla.runtime.tasks import Tasks
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.schema import Message
from tests.support.nodes.scripted_node import ScriptedNode, until


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 20))


class Here:
    """What a peer needs, and the calls that it made."""

    def __init__(self, address: Address | None) -> None:
        self.address = address
        self.clock = SimulatedClock()
        self.errors: list[BaseException] = []
        self.lost = 0
        self.requested = 0
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))
        self.peer = Peer(
            SystemNetwork(),
            self.clock,
            SeededDice(0),
            self.tasks,
            self._locate,
            client_id="node 1",
            on_lost=self._on_lost,
        )

    def _locate(self) -> Address | None:
        self.requested += 1
        return self.address

    def _on_lost(self) -> None:
        self.lost += 1

    async def beat(self) -> int:
        response: BrokerHeartbeatResponse = await self.peer.send(
            BrokerHeartbeatRequest(), versions.BROKER_HEARTBEAT, timeout_ms=1_000
        )
        return response.throttle_time_ms

    async def close(self) -> None:
        self.peer.close()
        await self.tasks.close()
        assert not self.errors


def beating() -> ScriptedNode:
    return ScriptedNode(lambda _request: BrokerHeartbeatResponse(throttle_time_ms=7))


def test_many_who_send_at_once_share_a_connection() -> None:
    async def scenario() -> None:
        node = beating()
        here = Here(await node.listen())
        assert await asyncio.gather(*(here.beat() for _ in range(10))) == [7] * 10
        assert here.peer.is_connected
        assert len(node.connections) == here.requested == 1
        await here.close()
        node.stop()

    run(scenario())


def test_a_node_that_comes_back_elsewhere_is_found() -> None:
    async def scenario() -> None:
        node = beating()
        here = Here(await node.listen())
        await here.beat()
        here.clock.advance(1)
        node.stop()
        await until(lambda: here.lost)
        assert not here.peer.is_connected
        here.address = await node.listen()
        assert await here.beat() == 7
        assert here.lost == 1
        await here.close()
        node.stop()

    run(scenario())


def test_the_end_that_close_brings_is_no_loss() -> None:
    async def scenario() -> None:
        node = beating()
        here = Here(await node.listen())
        await here.beat()
        here.peer.close()
        await until(lambda: not node.connections)
        await until(lambda: not here.peer.is_connected)
        assert not here.lost
        await here.close()
        node.stop()

    run(scenario())


def test_attempts_that_fail_are_spread_further_and_further() -> None:
    async def scenario() -> None:
        here = Here(None)
        for _ in range(8):
            attempts = [asyncio.ensure_future(here.beat()) for _ in range(3)]
            while not all(attempt.done() for attempt in attempts):
                await asyncio.sleep(0)  # noqa: TID251 - lets them run
                deadline = here.clock.next_deadline()
                if deadline is not None:
                    here.clock.advance(deadline - here.clock.monotonic())
            for attempt in attempts:
                with pytest.raises(ChannelError, match="not known yet"):
                    await attempt
        assert here.requested == 8
        # 50 ms, doubled up to a second, each a fifth more or less.
        assert 0.8 * 3.15 <= here.clock.monotonic() <= 1.2 * 3.15
        await here.close()

    run(scenario())


def test_backoff_has_a_ceiling() -> None:
    backoff, dice = ReconnectBackoff(), SeededDice(0)
    assert all(backoff.after(failures, dice) <= 1.2 for failures in range(200))


def test_nothing_can_be_sent_to_a_closed_peer() -> None:
    async def scenario() -> None:
        node = beating()
        here = Here(await node.listen())
        await here.beat()
        here.peer.close()
        await until(lambda: not here.peer.is_connected)
        with pytest.raises(ChannelError, match="was closed"):
            await here.beat()
        await here.close()
        node.stop()

    run(scenario())


def test_a_node_that_closes_every_connection_without_an_answer_is_left_alone_for_longer() -> None:
    async def scenario() -> None:
        def close(_request: Message) -> None:
            for each in node.connections:
                each.connection.abort()

        node = ScriptedNode(close)
        here = Here(await node.listen())
        with pytest.raises(ChannelError):
            await here.beat()
        pauses = []
        for _ in range(5):
            await until(lambda: not here.peer.is_connected)
            attempt = asyncio.ensure_future(here.beat())
            await until(lambda: here.clock.next_deadline() is not None)
            pauses.append((here.clock.next_deadline() or 0.0) - here.clock.monotonic())
            here.clock.advance(pauses[-1])
            with pytest.raises(ChannelError):
                await attempt
        # 50 ms, doubled, each a fifth more or less.
        expected = [0.05, 0.1, 0.2, 0.4, 0.8]
        assert pauses[-5:] == pytest.approx(expected, rel=0.2)
        await here.close()
        node.stop()

    run(scenario())
