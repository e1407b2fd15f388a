"""Server-sent events and WebSockets."""

from __future__ import annotations

import http.client
import json
from collections.abc import Generator
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.conformance.clients import TIMEOUT_S
from tests.support.kafka.kafka_broker import Broker
from tests.support.web.gateway_process import GatewayProcess


def events(gateway: GatewayProcess, path: str) -> Generator[tuple[str, Any], None, None]:
    """The id and the data of each event, until the generator is closed."""
    connection = http.client.HTTPConnection(gateway.host, gateway.port, timeout=TIMEOUT_S)
    connection.request("GET", path, headers={"Accept": "text/event-stream"})
    response = connection.getresponse()
    assert response.getheader("content-type", "").startswith("text/event-stream")
    identity = ""
    try:
        while line := response.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "id":
                identity = value
            elif name == "data":
                yield identity, json.loads(value)
    finally:
        response.close()
        connection.close()


def produced(gateway: GatewayProcess, topic: str, count: int) -> None:
    messages = [{"value": None, "key": str(number), "partition": 0} for number in range(count)]
    gateway.post(f"/topics/{topic}/messages/batch", {"messages": messages})


def committed(broker: Broker, group: str, topic: str) -> int:
    native = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    [found] = native.committed([TopicPartition(topic, 0)], TIMEOUT_S)
    native.close()
    return found.offset


def test_each_message_is_an_event(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    produced(gateway, topic, 3)
    stream = events(gateway, f"/consumers/{group}/stream?topics={topic}&instance=one")
    found = [next(stream) for _ in range(3)]
    assert [identity for identity, _ in found] == [f"{topic}/0/{number}" for number in range(3)]
    assert [message["key"] for _, message in found] == ["0", "1", "2"]
    # One that comes while the stream is open.
    gateway.post(f"/topics/{topic}/messages", {"value": None, "key": "late", "partition": 1})
    assert next(stream)[1]["key"] == "late"
    stream.close()


def test_a_stream_continues_behind_what_was_committed(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    produced(gateway, topic, 3)
    url = f"ws://{gateway.host}:{gateway.port}/consumers/{group}/stream?topics={topic}"
    with connect(url) as socket:
        keys: list[str] = []
        while len(keys) < 3:
            keys += [each["key"] for each in json.loads(socket.recv(TIMEOUT_S))["messages"]]
        assert keys == ["0", "1", "2"]
        socket.send(json.dumps({"type": "commit", "offsets": {topic: {"0": 2}}}))
        assert json.loads(socket.recv(TIMEOUT_S)) == {"committed": {topic: {"0": 2}}}
    assert committed(broker, group, topic) == 2
    with connect(url) as socket:
        [message] = json.loads(socket.recv(TIMEOUT_S))["messages"]
        assert message["key"] == "2"
        place = {"topic": topic, "partition": 0, "offset": 1}
        socket.send(json.dumps({"type": "seek", **place}))
        assert json.loads(socket.recv(TIMEOUT_S)) == {"position": place}
        keys = [each["key"] for each in json.loads(socket.recv(TIMEOUT_S))["messages"]]
        assert keys[0] == "1"
        socket.send('{"type": "surprise"}')
        problem = json.loads(socket.recv(TIMEOUT_S))
        while "messages" in problem:
            problem = json.loads(socket.recv(TIMEOUT_S))
        assert problem["problem"]["status"] == 400


def test_frames_are_messages_and_are_answered_in_order(
    gateway: GatewayProcess, broker: Broker, topic: str
) -> None:
    with connect(f"ws://{gateway.host}:{gateway.port}/topics/{topic}/messages") as socket:
        for number in range(100):
            socket.send(json.dumps({"value": None, "key": str(number), "partition": 0}))
        socket.send('{"value": 1}')
        answers = [json.loads(socket.recv(TIMEOUT_S)) for _ in range(101)]
    assert [each.get("offset") for each in answers] == [*range(100), None]
    assert answers[-1]["error"] == "INVALID_REQUEST"
    native = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": f"native-{topic}"})
    native.assign([TopicPartition(topic, 0, 0)])
    keys = [each.key() for each in native.consume(100, TIMEOUT_S)]
    native.close()
    assert keys == [b"%d" % number for number in range(100)]


@pytest.mark.parametrize(
    "path", ["/topics/missing/messages", "/consumers/g/stream", "/consumers/g/stream?topics=a%20b"]
)
def test_a_socket_that_cannot_be_is_refused(gateway: GatewayProcess, path: str) -> None:
    with (
        pytest.raises((InvalidStatus, ConnectionClosed)),
        connect(f"ws://{gateway.host}:{gateway.port}{path}") as socket,
    ):
        socket.recv(TIMEOUT_S)
