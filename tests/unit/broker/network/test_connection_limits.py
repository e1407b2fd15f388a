"""`max.connections` lets new connections wait, `max.connections.per.ip` refuses them."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.runtime.network import Address
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.metadata import MetadataRequest
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.nodes.wire_connection import framed

BROKER = 4


class FakeListener:
    address = Address("192.0.2.2", 9092)

    def __init__(self) -> None:
        self.is_accepting = False

    def pause_accepting(self) -> None:
        self.is_accepting = False

    def resume_accepting(self) -> None:
        self.is_accepting = True

    def close(self) -> None: ...


def listening(node: OneNode) -> FakeListener:
    listener = FakeListener()
    node.broker.connection_limits.open(listener)
    return listener


def accepts(listener: FakeListener) -> bool:
    return listener.is_accepting


def is_served(client: ClientStream) -> bool:
    client.feed(framed(MetadataRequest(topics=[]), 12))
    return bool(client.answers())


def set_broker_config(node: OneNode, name: str, value: str) -> None:
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=BROKER, configs=[AlterableConfig(name=name, value=value)]
            )
        ]
    )
    (result,) = node.send_request(request, 1).responses
    assert result.error_code == ErrorCode.NONE, result.error_message
    node.run(node.broker.replicas.wait_applied())


def test_no_more_are_accepted_than_max_connections(start_node: StartNode) -> None:
    node = start_node(configs={"max.connections": "3"})
    listener = listening(node)
    clients = [ClientStream(node) for _ in range(2)]
    assert accepts(listener)
    clients.append(ClientStream(node))
    assert not accepts(listener)
    assert all(map(is_served, clients))
    clients.pop().end()
    assert accepts(listener)
    clients.append(ClientStream(node))
    assert not accepts(listener)
    # A listener that comes later is under the same limit.
    assert not accepts(listening(node))
    for client in clients:
        client.end()


def test_raising_max_connections_lets_those_in_that_wait(start_node: StartNode) -> None:
    node = start_node(configs={"max.connections": "1"})
    listener = listening(node)
    client = ClientStream(node)
    assert not accepts(listener)
    set_broker_config(node, "max.connections", "2")
    assert accepts(listener)
    set_broker_config(node, "max.connections", "1")
    assert not accepts(listener)
    client.end()
    assert accepts(listener)


def test_a_host_with_as_many_as_allowed_is_refused_more(start_node: StartNode) -> None:
    node = start_node(configs={"max.connections.per.ip": "2"})
    first, second, third = (ClientStream(node, host="192.0.2.7") for _ in range(3))
    other = ClientStream(node, host="192.0.2.8")
    assert [client.is_closed for client in (first, second, third, other)] == [0, 0, 1, 0]
    assert not is_served(third)
    third.end()
    first.end()
    again = ClientStream(node, host="192.0.2.7")
    assert all(map(is_served, (second, other, again)))
    for client in (second, other, again):
        client.end()


@pytest.mark.parametrize(("host", "allowed"), [("192.0.2.7", 3), ("192.0.2.8", 1)])
def test_a_host_may_have_a_limit_of_its_own(start_node: StartNode, host: str, allowed: int) -> None:
    configs = {
        "max.connections.per.ip": "1",
        "max.connections.per.ip.overrides": "192.0.2.7:3",
    }
    node = start_node(configs=configs)
    clients = [ClientStream(node, host=host) for _ in range(4)]
    assert [client.is_closed for client in clients] == [n >= allowed for n in range(4)]
    for client in clients:
        client.end()
