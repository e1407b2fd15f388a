"""A client with many requests costs the others little."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ottla.runtime.clock import Clock
from ottla.wire.apis import ApiKey
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.requests import encode_request
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode, StartNode

HANDLING_SECONDS = 0.0002
# A round of turns, a turn, and the requests at their ends.
WAIT_SECONDS_MAX = 0.001 + 0.0005 + 2 * HANDLING_SECONDS


class Handled:
    """Notes whose requests are handled when. Each takes some time."""

    def __init__(self, node: OneNode) -> None:
        self.order: list[tuple[str, float]] = []
        api = node.broker.apis[ApiKey.METADATA]
        handler: Callable[..., Any] = api.handler

        def noted(context: Any, request: Any) -> Any:
            node.clock.spend(HANDLING_SECONDS)
            self.order.append((context.client_id, node.clock.monotonic()))
            return handler(context, request)

        api.handler = noted

    def of(self, client_id: str) -> int:
        return sum(each == client_id for each, _ in self.order)


def requests(client_id: str, count: int = 1) -> bytes:
    request = MetadataRequest(topics=[])
    return b"".join(
        b"".join(encode_request(request, 12, correlation_id=each, client_id=client_id))
        for each in range(count)
    )


def introduce(node: OneNode, *client_ids: str) -> list[ClientStream]:
    """Connections that have sent a request, so that the node knows their clients."""
    streams = []
    for client_id in client_ids:
        stream = ClientStream(node)
        stream.receive(requests(client_id))
        stream.answers()
        streams.append(stream)
    return streams


def let_pass(clock: Clock) -> None:
    clock.advance(0)  # type: ignore[attr-defined]  # simulated


def test_one_client_alone_has_long_turns(start_node: StartNode) -> None:
    node = start_node()
    streams = introduce(node, *["flood"] * 5)
    handled = Handled(node)
    for stream in streams:
        stream.receive(requests("flood", 20))
    assert len(handled.order) == 100, "each within its turn of five milliseconds"


def test_a_request_waits_for_a_round_at_most(start_node: StartNode) -> None:
    node = start_node()
    flood = introduce(node, *["flood"] * 20)
    (stream,) = introduce(node, "polite")
    handled = Handled(node)
    for each in flood:
        each.receive(requests("flood", 50))
    for _ in range(10):
        let_pass(node.clock)
        sent_at, before = node.clock.monotonic(), handled.of("flood")
        stream.receive(requests("polite"))
        assert stream.answers(), "served at once"
        assert node.clock.monotonic() - sent_at <= WAIT_SECONDS_MAX
        assert handled.of("flood") == before
        let_pass(node.clock)
    assert handled.of("polite") == 10
    assert handled.of("flood") > 0


def test_the_loop_is_free_after_each_round(start_node: StartNode) -> None:
    """Whatever a flooding client sends, other events come in between."""
    node = start_node()
    flood = introduce(node, *["flood"] * 20)
    introduce(node, "polite")
    handled = Handled(node)
    started = node.clock.monotonic()
    for each in flood:
        each.receive(requests("flood", 50))
    assert node.clock.monotonic() - started <= WAIT_SECONDS_MAX
    while handled.of("flood") < 1_000:
        started, before = node.clock.monotonic(), handled.of("flood")
        node.broker.turns._run_round()
        assert handled.of("flood") > before
        assert node.clock.monotonic() - started <= WAIT_SECONDS_MAX


def test_clients_that_wait_share_the_time(start_node: StartNode) -> None:
    """However many connections they have."""
    node = start_node()
    many = introduce(node, *["many"] * 10)
    few = introduce(node, "few")
    handled = Handled(node)
    for stream in many:
        stream.receive(requests("many", 100))
    few[0].receive(requests("few", 200))
    for _ in range(40):
        node.broker.turns._run_round()
    assert handled.of("few") > 50
    assert 0.7 < handled.of("few") / handled.of("many") < 1.3


def test_a_connection_is_not_read_from_while_it_waits(start_node: StartNode) -> None:
    node = start_node()
    flood = introduce(node, *["flood"] * 3)
    introduce(node, "polite")
    Handled(node)
    for each in flood:
        each.receive(requests("flood", 50))
    assert not flood[-1].is_read_from
    while not all(each.is_read_from for each in flood):
        node.broker.turns._run_round()


def test_a_client_that_closes_while_it_waits_is_forgotten(start_node: StartNode) -> None:
    node = start_node()
    flood = introduce(node, *["flood"] * 3)
    introduce(node, "polite")
    handled = Handled(node)
    for each in flood:
        each.receive(requests("flood", 50))
        each.end()
    before = len(handled.order)
    node.clock.advance(1)
    assert len(handled.order) == before
