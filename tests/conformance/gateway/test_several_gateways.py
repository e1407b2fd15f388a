"""Several gateways in front of one cluster, some of which are killed."""

from __future__ import annotations

import threading
from http.client import HTTPException
from time import perf_counter

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.conformance.clients import TIMEOUT_S
from tests.support.kafka.kafka_broker import Broker
from tests.support.web.brokers import OURS
from tests.support.web.gateway_process import GatewayProcess, running_gateway_process

pytestmark = OURS

SESSION_TIMEOUT_S = 2


def test_the_gateway_that_has_a_consumer_is_named(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    with running_gateway_process(broker.bootstrap) as other:
        answer = gateway.post(f"/consumers/{group}/subscribe", {"topics": [topic]})
        assert answer["owner"] == gateway.url
        gateway.post(f"/topics/{topic}/messages", {"value": None})
        # It is a member of the group when it returns messages.
        assert gateway.get(f"/consumers/{group}/poll?timeout_ms=10000")["messages"]
        for method, call, body in (
            ("GET", "poll", None),
            ("POST", "subscribe", {"topics": [topic]}),
            ("POST", "seek", {"topic": topic, "partition": 0, "offset": 0}),
            ("POST", "offsets", {"offsets": {topic: {"0": 0}}}),
        ):
            refused = other.call(method, f"/consumers/{group}/{call}", body)
            assert (refused.status, refused.json["owner"]) == (421, gateway.url)
            assert refused.json["error"] == "SESSION_ELSEWHERE"
        # Another instance is nobody's yet.
        other.post(f"/consumers/{group}/subscribe?instance=two", {"topics": [topic]})
        taken = other.post(f"/consumers/{group}/subscribe?takeover=true", {"topics": [topic]})
        assert taken["owner"] == other.url


def test_the_partitions_of_a_killed_gateway_go_to_the_others(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    messages = [{"value": None, "partition": number % 3} for number in range(30)]
    gateway.post(f"/topics/{topic}/messages/batch", {"messages": messages})
    with running_gateway_process(
        broker.bootstrap, ["--limit", f"sessions.timeout_s={SESSION_TIMEOUT_S}"]
    ) as killed:
        killed.post(f"/consumers/{group}/subscribe", {"topics": [topic]})
        found = killed.get(f"/consumers/{group}/poll?timeout_ms=5000")["messages"]
        assert found
        killed.kill()
    # Nothing was committed: all of it is read again.
    gateway.post(f"/consumers/{group}/subscribe?takeover=true", {"topics": [topic]})
    places, began = set(), perf_counter()
    for _ in range(30):
        page = gateway.get(f"/consumers/{group}/poll?timeout_ms=2000")["messages"]
        places |= {(each["partition"], each["offset"]) for each in page}
        if len(places) == 30:
            break
    assert len(places) == 30
    # The other one does not wait for the default, ten seconds.
    assert perf_counter() - began < 2 * SESSION_TIMEOUT_S + 5


@pytest.mark.parametrize("path", ["messages", "messages/batch"])
def test_a_killed_gateway_loses_no_acknowledged_message(
    broker: Broker, topic: str, path: str
) -> None:
    acknowledged: set[str] = set()
    enough = threading.Event()

    def write(gateway: GatewayProcess, name: str) -> None:
        for number in range(100_000):
            keys = [f"{name}-{number}-{each}" for each in range(1 if path == "messages" else 5)]
            messages = [{"key": key, "value": None} for key in keys]
            body = messages[0] if path == "messages" else {"messages": messages}
            try:
                answer = gateway.call("POST", f"/topics/{topic}/{path}", body)
            except (OSError, HTTPException):
                return
            if answer.status == 200:
                acknowledged.update(keys)
            if len(acknowledged) > 300:
                enough.set()

    with running_gateway_process(broker.bootstrap) as gateway:
        writers = [threading.Thread(target=write, args=(gateway, str(each))) for each in range(4)]
        for writer in writers:
            writer.start()
        assert enough.wait(TIMEOUT_S)
        gateway.kill()
        for writer in writers:
            writer.join(TIMEOUT_S)
    assert acknowledged <= _keys(broker, topic)


def _keys(broker: Broker, topic: str) -> set[str]:
    native = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": f"native-{topic}",
            "enable.partition.eof": True,
        }
    )
    native.assign([TopicPartition(topic, number, 0) for number in range(3)])
    found, ended = set(), 0
    while ended < 3:
        for message in native.consume(1_000, 1.0):
            if message.error() is not None:
                ended += 1
            else:
                found.add((message.key() or b"").decode())
    native.close()
    return found
