"""Sessions that end are authenticated again on their connection (KIP-368); refused ones after a
pause."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from ottla.channels import ChannelSecurity, NotSentError, Peer, versions
from ottla.channels.authentication import AuthenticationFailedError
from ottla.channels.channel import seconds_to_reauthentication
from ottla.configs.value import Password
from ottla.model import ErrorCode
from ottla.runtime.network import Address
from ottla.runtime.system_network import SystemNetwork
from ottla.runtime.tasks import Tasks
from ottla.security.sasl.plain import PlainClient
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ottla.wire.schema import Message
from tests.support.nodes.scripted_node import ScriptedNode, until

LIFETIME_MS = 10_000
HANDSHAKE, AUTHENTICATE, HEARTBEAT = (
    SaslHandshakeRequest,
    SaslAuthenticateRequest,
    BrokerHeartbeatRequest,
)
EXCHANGE = [HANDSHAKE, AUTHENTICATE]


class Node(ScriptedNode):
    """Accepts any login for `LIFETIME_MS`, and refuses those while `refuses`."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.received: list[type[Message]] = []
        self.accepted = 0
        self.refuses = False
        self.answers_heartbeats = True

    def _answer(self, request: Message) -> Message | None:
        self.received.append(type(request))
        if isinstance(request, HANDSHAKE):
            return SaslHandshakeResponse(mechanisms=["PLAIN"])
        if isinstance(request, AUTHENTICATE) and self.refuses:
            return SaslAuthenticateResponse(error_code=ErrorCode.SASL_AUTHENTICATION_FAILED)
        if isinstance(request, AUTHENTICATE):
            self.accepted += 1
            return SaslAuthenticateResponse(session_lifetime_ms=LIFETIME_MS)
        return BrokerHeartbeatResponse() if self.answers_heartbeats else None


class Here:
    def __init__(self, address: Address) -> None:
        self.clock = SimulatedClock()
        self.lost = 0
        self.tasks = Tasks(lambda name, error: None)
        self.peer = Peer(
            SystemNetwork(),
            self.clock,
            SeededDice(0),
            self.tasks,
            lambda: address,
            client_id="node 1",
            on_lost=self._on_lost,
            security=ChannelSecurity(mechanism=lambda: PlainClient("broker", Password("secret"))),
        )

    def _on_lost(self) -> None:
        self.lost += 1

    async def beat(self) -> None:
        request = BrokerHeartbeatRequest()
        await self.peer.send(request, versions.BROKER_HEARTBEAT, timeout_ms=60_000)

    async def close(self) -> None:
        self.peer.close()
        await self.tasks.close()


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 20))


def test_a_session_is_authenticated_again_before_it_ends_on_the_same_connection() -> None:
    async def scenario() -> None:
        node = Node()
        here = Here(await node.listen())
        await here.beat()
        here.clock.advance(LIFETIME_MS / 1_000 * 0.4)
        await here.beat()
        assert node.received == [*EXCHANGE, HEARTBEAT, HEARTBEAT]
        [connection] = node.connections
        here.clock.advance(LIFETIME_MS / 1_000 * 0.2)
        await asyncio.gather(*(here.beat() for _ in range(3)))
        assert node.received[4:] == [*EXCHANGE, HEARTBEAT, HEARTBEAT, HEARTBEAT]
        assert node.connections == [connection]
        assert here.lost == 0
        await here.close()
        node.stop()

    run(scenario())


@pytest.mark.parametrize(
    ("lifetime", "expected"),
    [(3_600.0, 2_880.0), (25.0, 20.0), (10.0, 5.0), (2.0, 1.1), (1.5, 1.1), (1.0, 0.8)],
)
def test_a_short_session_leaves_a_busy_node_more_of_its_time(
    lifetime: float, expected: float
) -> None:
    assert seconds_to_reauthentication(lifetime) == pytest.approx(expected)


def test_outstanding_requests_are_answered_first_and_later_ones_wait() -> None:
    async def scenario() -> None:
        node = Node()
        here = Here(await node.listen())
        await here.beat()
        node.answers_heartbeats = False
        first = asyncio.ensure_future(here.beat())
        await until(lambda: node.received.count(HEARTBEAT) == 2)
        here.clock.advance(LIFETIME_MS / 1_000)
        second = asyncio.ensure_future(here.beat())
        for _ in range(10):
            await asyncio.sleep(0)  # noqa: TID251 - lets them run
        assert node.received == [*EXCHANGE, HEARTBEAT, HEARTBEAT]
        node.answers_heartbeats = True
        [connection] = node.connections
        head, _ = connection.requests[-1]
        connection.answer(head, BrokerHeartbeatResponse())
        await asyncio.gather(first, second)
        assert node.received[4:] == [*EXCHANGE, HEARTBEAT]
        await here.close()
        node.stop()

    run(scenario())


def test_a_session_that_became_old_while_a_sender_waited_is_authenticated_again_first() -> None:
    async def scenario() -> None:
        node = Node()
        here = Here(await node.listen())
        pauses = iter([LIFETIME_MS / 1_000])
        here.peer._security = replace(
            here.peer._security, on_outcome=lambda *_: here.clock.advance(next(pauses, 0.0))
        )
        await asyncio.gather(here.beat(), here.beat())
        assert node.received == [*EXCHANGE, *EXCHANGE, HEARTBEAT, HEARTBEAT]
        await here.close()
        node.stop()

    run(scenario())


def test_a_refusal_is_followed_by_a_new_connection() -> None:
    async def scenario() -> None:
        node = Node()
        here = Here(await node.listen())
        await here.beat()
        [before] = node.connections
        here.clock.advance(LIFETIME_MS / 1_000)
        node.refuses = True
        beat = asyncio.ensure_future(here.beat())
        await until(lambda: before not in node.connections)
        node.refuses = False
        await beat
        assert node.accepted == 2
        assert before not in node.connections
        await here.close()
        node.stop()

    run(scenario())


def test_a_node_that_refuses_the_login_is_asked_again_after_a_second() -> None:
    async def scenario() -> None:
        node = Node()
        node.refuses = True
        here = Here(await node.listen())
        outcomes: list[tuple[Address, OSError | None]] = []
        here.peer._security = replace(
            here.peer._security, on_outcome=lambda *outcome: outcomes.append(outcome)
        )
        started = here.clock.monotonic()
        for _ in range(3):
            attempt = asyncio.ensure_future(here.beat())
            while not attempt.done():
                await asyncio.sleep(0)  # noqa: TID251 - lets it run
                if here.clock.next_deadline() is not None and not node.connections:
                    here.clock.advance(0.1)
            assert isinstance(attempt.exception(), NotSentError)
            await until(lambda: not node.connections)
        assert here.clock.monotonic() - started > 1.5
        assert [type(error) for _, error in outcomes] == [AuthenticationFailedError] * 3
        node.refuses = False
        await here.close()
        node.stop()

    run(scenario())
