"""Other replicas over real connections: votes do not wait behind fetches, ends are reported."""

from __future__ import annotations

import asyncio

import pytest

from ottla.broker.control.quorum_peers import QuorumPeers
from ottla.channels import PLAINTEXT, ChannelError
from ottla.model import ErrorCode
from ottla.raft import Destination
from ottla.runtime.system_network import SystemNetwork
from ottla.runtime.tasks import Tasks
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.fetch import FetchRequest
from ottla.wire.messages.vote import VoteRequest, VoteResponse
from ottla.wire.schema import Message
from tests.support.nodes.scripted_node import ScriptedNode, until


class Peers:
    def __init__(self) -> None:
        self.lost: list[int] = []
        self.errors: list[BaseException] = []
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))
        self.peers = QuorumPeers(
            SystemNetwork(),
            SimulatedClock(),
            SeededDice(1),
            self.tasks,
            PLAINTEXT,
            node_id=1,
            timeout_ms=2_000,
            on_lost=self.lost.append,
        )

    async def close(self) -> None:
        self.peers.close()
        await self.tasks.close()
        assert not self.errors


def voting(request: Message) -> Message | None:
    """Answers votes, and lets fetches wait."""
    return VoteResponse() if isinstance(request, VoteRequest) else None


def test_vote_does_not_wait_behind_a_fetch() -> None:
    async def play() -> None:
        node, here = ScriptedNode(voting), Peers()
        there = Destination(2, *await node.listen())
        fetching = asyncio.ensure_future(here.peers.send(there, FetchRequest()))
        await until(lambda: node.connections and node.connections[0].requests)
        for _ in range(2):
            assert isinstance(await here.peers.send(there, VoteRequest()), VoteResponse)
        assert not fetching.done()
        assert len(node.connections) == 2
        fetching.cancel()
        await here.close()
        node.stop()

    asyncio.run(asyncio.wait_for(play(), 20))


def test_end_of_a_node_notifies_waiters_and_listeners_with_its_id() -> None:
    async def play() -> None:
        node, here = ScriptedNode(voting), Peers()
        there = Destination(2, *await node.listen())
        await here.peers.send(there, VoteRequest())
        fetching = asyncio.ensure_future(here.peers.send(there, FetchRequest()))
        await until(lambda: len(node.connections) == 2 and node.connections[1].requests)
        node.stop()
        with pytest.raises(ChannelError):
            await fetching
        await until(lambda: len(here.lost) == 2)
        assert set(here.lost) == {2}
        await here.close()

    asyncio.run(asyncio.wait_for(play(), 20))


def test_node_that_was_never_there_is_not_lost() -> None:
    async def play() -> None:
        node, here = ScriptedNode(), Peers()
        there = Destination(2, *await node.listen())
        node.stop()
        with pytest.raises(ChannelError, match="cannot connect"):
            await here.peers.send(there, VoteRequest())
        assert not here.lost
        await here.close()

    asyncio.run(asyncio.wait_for(play(), 20))


def test_node_at_another_address_is_another_connection() -> None:
    async def play() -> None:
        old, new, here = ScriptedNode(voting), ScriptedNode(voting), Peers()
        for node in (old, new):
            await here.peers.send(Destination(2, *await node.listen()), VoteRequest())
        assert [len(node.connections) for node in (old, new)] == [1, 1]
        await here.close()
        old.stop()
        new.stop()

    asyncio.run(asyncio.wait_for(play(), 20))


def test_controller_that_refuses_this_node_is_no_controller_that_answers() -> None:
    def refusing(_request: Message) -> Message:
        return VoteResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)

    async def play() -> None:
        node, here = ScriptedNode(refusing), Peers()
        there = Destination(2, *await node.listen())
        await here.peers.send(there, VoteRequest())
        (outcome,) = here.peers.outcomes.values()
        assert "CLUSTER_AUTHORIZATION_FAILED" in outcome
        assert "super.users" in outcome
        await here.close()
        node.stop()

    asyncio.run(asyncio.wait_for(play(), 20))
