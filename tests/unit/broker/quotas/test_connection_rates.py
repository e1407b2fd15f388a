"""Connections that are opened too fast wait, or are closed if one address opens them (KIP-612)."""

from __future__ import annotations

from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import LISTENER, OneNode, StartNode
from tests.support.quotas.quota_changes import set_quota
from tests.unit.broker.network.test_connection_limits import (
    accepts,
    is_served,
    listening,
    set_broker_config,
)

FAST, SLOW = "192.0.2.1", "192.0.2.2"
RATE = "connection_creation_rate"
# At a rate of 1 in windows of eleven seconds, of which ten are counted.
BURST = 10


def has_closed(client: ClientStream) -> bool:
    return client.is_closed


def open_many(node: OneNode, count: int, host: str = FAST) -> list[ClientStream]:
    return [ClientStream(node, host=host) for _ in range(count)]


def test_a_listener_accepts_nothing_while_its_rate_is_exceeded(start_node: StartNode) -> None:
    node = start_node(configs={"max.connection.creation.rate": "1"})
    listener = listening(node)
    clients = open_many(node, BURST)
    assert accepts(listener)
    clients += open_many(node, 1)
    assert not accepts(listener)
    assert all(is_served(client) for client in clients)
    # Throttled for a window at most, although the rate is exceeded for longer.
    node.clock.advance(1.001)
    assert accepts(listener)


def test_a_rate_can_be_set_for_one_listener_and_dynamically(start_node: StartNode) -> None:
    node = start_node()
    listener, other = listening(node), listening(node, "OTHER")
    name = f"listener.name.{LISTENER.lower()}.max.connection.creation.rate"
    set_broker_config(node, name, "1")
    open_many(node, BURST + 1)
    assert not accepts(listener)
    assert accepts(other)
    node.clock.advance(1.001)
    assert accepts(listener)


def test_an_address_over_its_quota_is_closed_after_the_throttle_time(
    start_node: StartNode,
) -> None:
    node = start_node()
    listener = listening(node)
    set_quota(node, {"ip": FAST}, {RATE: 1})
    assert all(is_served(client) for client in open_many(node, BURST))
    (refused,) = open_many(node, 1)
    assert not refused.is_read_from
    assert not refused.is_closed
    assert accepts(listener)
    (other,) = open_many(node, 1, SLOW)
    assert is_served(other)
    node.clock.advance(1.001)
    assert has_closed(refused)
    refused.end()


def test_other_addresses_have_the_default(start_node: StartNode) -> None:
    node = start_node()
    set_quota(node, {"ip": None}, {RATE: 1})
    set_quota(node, {"ip": FAST}, {RATE: 100})
    assert all(client.is_read_from for client in open_many(node, BURST * 3))
    slow = open_many(node, BURST + 1, SLOW)
    assert [client.is_read_from for client in slow] == [True] * BURST + [False]


def test_a_refused_connection_does_not_count(start_node: StartNode) -> None:
    """Otherwise a client that tries again and again would never get in."""
    node = start_node(configs={"max.connection.creation.rate": "2"})
    listener = listening(node)
    set_quota(node, {"ip": FAST}, {RATE: 1})
    clients = open_many(node, BURST + 15)
    assert sum(client.is_read_from for client in clients) == BURST
    assert accepts(listener), "the refused ones are not in the rate of the node"


def test_a_quota_that_is_removed_refuses_no_more(start_node: StartNode) -> None:
    node = start_node()
    set_quota(node, {"ip": FAST}, {RATE: 1})
    open_many(node, BURST + 1)
    set_quota(node, {"ip": FAST}, {RATE: None})
    assert all(is_served(client) for client in open_many(node, 5))
