"""One connection to a node: answers find their requests, and every end is reported."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ottla.channels import Channel, ChannelError, RequestTimedOutError, versions
from ottla.runtime.network import Address
from ottla.runtime.system_network import SystemNetwork
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ottla.wire.schema import Message
from tests.support.nodes.scripted_node import ScriptedNode, until

TIMEOUT_MS = 1_000
BEAT = versions.BROKER_HEARTBEAT


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 20))


def echo(request: Message) -> Message:
    assert isinstance(request, BrokerHeartbeatRequest)
    return BrokerHeartbeatResponse(throttle_time_ms=request.broker_id)


async def connected(
    address: Address,
    clock: SimulatedClock | None = None,
    on_closed: Callable[[Channel], None] = lambda _channel: None,
) -> Channel:
    return await Channel.connect(
        SystemNetwork(),
        clock or SimulatedClock(),
        address,
        client_id="node 1",
        timeout_ms=TIMEOUT_MS,
        on_closed=on_closed,
    )


def test_pipelined_requests_get_their_own_answers() -> None:
    async def scenario() -> None:
        node = ScriptedNode(echo)
        channel = await connected(await node.listen())
        answers = [
            channel.send(BrokerHeartbeatRequest(broker_id=number), BEAT, timeout_ms=TIMEOUT_MS)
            for number in range(100)
        ]
        received = [(await answer).throttle_time_ms for answer in answers]
        assert received == list(range(100))
        assert node.connections[0].requests[0][0].client_id == "node 1"
        channel.close()
        node.stop()

    run(scenario())


def test_a_large_answer_arrives_whole() -> None:
    async def scenario() -> None:
        records = bytes(range(256)) * 20_000
        topic = FetchableTopicResponse(partitions=[PartitionData(records=records)])
        node = ScriptedNode(lambda _request: FetchResponse(responses=[topic]))
        channel = await connected(await node.listen())
        response = await channel.send(FetchRequest(), versions.FETCH, timeout_ms=TIMEOUT_MS)
        assert response.responses[0].partitions[0].records == records
        channel.close()
        node.stop()

    run(scenario())


def test_a_lost_connection_fails_outstanding_requests_and_notifies_its_owner_once() -> None:
    async def scenario() -> None:
        node, lost = ScriptedNode(), list[Channel]()
        channel = await connected(await node.listen(), on_closed=lost.append)
        answers = [
            channel.send(BrokerHeartbeatRequest(), BEAT, timeout_ms=TIMEOUT_MS) for _ in range(3)
        ]
        await until(lambda: node.connections and len(node.connections[0].requests) == 3)
        node.stop()
        for answer in answers:
            with pytest.raises(ChannelError, match="BrokerHeartbeatRequest was not answered"):
                await answer
        assert lost == [channel]
        with pytest.raises(ChannelError, match="cannot send"):
            channel.send(BrokerHeartbeatRequest(), BEAT, timeout_ms=TIMEOUT_MS)

    run(scenario())


def test_a_request_that_times_out_ends_the_connection() -> None:
    async def scenario() -> None:
        node, clock, lost = ScriptedNode(), SimulatedClock(), list[Channel]()
        channel = await connected(await node.listen(), clock, lost.append)
        early = channel.send(BrokerHeartbeatRequest(), BEAT, timeout_ms=500)
        late = channel.send(BrokerHeartbeatRequest(), BEAT, timeout_ms=5_000)
        clock.advance(0.4)
        assert not early.done()
        clock.advance(0.2)
        with pytest.raises(RequestTimedOutError, match="was not answered within 500 ms"):
            await early
        with pytest.raises(ChannelError, match="was not answered within 500 ms"):
            await late
        assert lost == [channel]
        assert clock.next_deadline() is None
        node.stop()

    run(scenario())


def test_who_stopped_waiting_does_not_disturb_the_others() -> None:
    async def scenario() -> None:
        node = ScriptedNode()
        channel = await connected(await node.listen())
        first = channel.send(BrokerHeartbeatRequest(), BEAT, timeout_ms=TIMEOUT_MS)
        second = channel.send(BrokerHeartbeatRequest(), BEAT, timeout_ms=TIMEOUT_MS)
        first.cancel()
        await until(lambda: node.connections and len(node.connections[0].requests) == 2)
        (connection,) = node.connections
        for header, _ in connection.requests:
            connection.answer(header, BrokerHeartbeatResponse(error_code=header.correlation_id))
        assert (await second).error_code == 1
        channel.close()
        node.stop()

    run(scenario())


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"\x00\x00\x00\x04\x00\x00\x00\x63", "request 99, which is not outstanding"),
        (b"\x00\x00\x00\x02\x00\x00", "no header"),
        (b"\xff\xff\xff\xff", "frame of -1 bytes"),
    ],
)
def test_bytes_that_are_no_answer_end_the_connection(sent: bytes, reason: str) -> None:
    async def scenario() -> None:
        node = ScriptedNode()
        channel = await connected(await node.listen())
        answer = channel.send(BrokerHeartbeatRequest(), BEAT, timeout_ms=TIMEOUT_MS)
        await until(lambda: node.connections)
        node.connections[0].connection.write([sent])
        with pytest.raises(ChannelError, match=reason):
            await answer
        node.stop()

    run(scenario())


def test_an_unreachable_cluster_is_reported_with_its_address() -> None:
    async def scenario() -> None:
        node = ScriptedNode()
        address = await node.listen()
        node.stop()
        with pytest.raises(ChannelError, match=f"cannot connect to 127.0.0.1:{address.port}"):
            await connected(address)

    run(scenario())


class SilentNetwork(SystemNetwork):
    """Packets get lost on the way."""

    async def connect(self, address: Address, handler: object) -> Any:
        await asyncio.Event().wait()


def test_a_connection_that_does_not_come_about_is_given_up() -> None:
    async def scenario() -> None:
        clock = SimulatedClock()
        attempt = asyncio.ensure_future(
            Channel.connect(
                SilentNetwork(), clock, Address("away", 9092), client_id="n", timeout_ms=TIMEOUT_MS
            )
        )
        await until(lambda: clock.next_deadline() is not None)
        clock.advance(TIMEOUT_MS / 1_000)
        with pytest.raises(ChannelError, match="away:9092: timed out after 1000 ms"):
            await attempt

    run(scenario())
