"""The six plain calls, over HTTP, with native clients on the other side."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from kafka import KafkaConsumer  # type: ignore[import-untyped]
from kafka import TopicPartition as PythonPartition

from tests.conformance.clients import TIMEOUT_S
from tests.support.kafka.kafka_broker import Broker
from tests.support.web.gateway_process import GatewayProcess

NOT_UTF8 = b"\xff\x00\xfe"
PARTITIONS = 3


def base64_text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def consumed(broker: Broker, topic: str, count: int) -> list[Message]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": f"native-{topic}"})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    found: list[Message] = []
    while len(found) < count:
        messages = consumer.consume(count - len(found), TIMEOUT_S)
        assert messages, f"{len(found)} of {count} messages"
        found += messages
    consumer.close()
    return found


def polled(gateway: GatewayProcess, group: str, count: int, query: str = "") -> list[Any]:
    found: list[Any] = []
    for _ in range(30):
        if len(found) >= count:
            break
        path = f"/consumers/{group}/poll?timeout_ms=2000{query}"
        found += gateway.get(path)["messages"]
    assert len(found) == count, found
    return found


def test_a_message_arrives_as_it_was_sent(
    gateway: GatewayProcess, broker: Broker, topic: str
) -> None:
    body = {
        "key": "user_123",
        "value": base64_text(b"hello"),
        "headers": {"trace_id": "abc", "empty": None},
        "partition": None,
    }
    answer = gateway.post(f"/topics/{topic}/messages", body)
    [message] = consumed(broker, topic, 1)
    assert answer == {
        "topic": topic,
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": message.timestamp()[1],
    }
    assert (message.key(), message.value()) == (b"user_123", b"hello")
    assert message.headers() == [("trace_id", b"abc"), ("empty", None)]


def test_the_hash_of_the_key_chooses_the_partition_as_it_does_for_others(
    gateway: GatewayProcess, broker: Broker, topic: str
) -> None:
    keys = [f"user_{number}" for number in range(20)]
    messages = [{"key": key, "value": None} for key in keys]
    answers = gateway.post(f"/topics/{topic}/messages/batch", {"messages": messages})["offsets"]
    assert {each["partition"] for each in answers} == set(range(PARTITIONS))
    producer = Producer({"bootstrap.servers": broker.bootstrap, "partitioner": "murmur2_random"})
    native: list[int | None] = []
    for key in keys:
        producer.produce(
            topic, b"", key, callback=lambda _, found: native.append(found.partition())
        )
        producer.flush(TIMEOUT_S)
    assert [each["partition"] for each in answers] == native


def test_bytes_that_are_not_utf8_are_equal_both_ways(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    headers = [["a", {"base64": base64_text(NOT_UTF8)}], ["a", None], ["b", "text"]]
    body = {
        "key": {"base64": base64_text(NOT_UTF8)},
        "value": base64_text(bytes(range(256))),
        "headers": headers,
    }
    gateway.post(f"/topics/{topic}/messages", body)
    [message] = consumed(broker, topic, 1)
    assert (message.key(), message.value()) == (NOT_UTF8, bytes(range(256)))
    assert message.headers() == [("a", NOT_UTF8), ("a", None), ("b", b"text")]
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(topic, message.value(), message.key(), headers=message.headers())
    producer.flush(TIMEOUT_S)
    gateway.post(f"/consumers/{group}/subscribe", {"topics": [topic]})
    first, second = polled(gateway, group, 2)
    for found in (first, second):
        assert {name: found[name] for name in ("key", "value", "headers")} == body


def test_a_null_value_is_a_tombstone(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    gateway.post(f"/topics/{topic}/messages", {"key": "k", "value": None})
    gateway.post(f"/topics/{topic}/messages", {"value": ""})
    found = {message.key(): message.value() for message in consumed(broker, topic, 2)}
    assert found == {b"k": None, None: b""}
    gateway.post(f"/consumers/{group}/subscribe", {"topics": [topic]})
    assert {each["key"]: each["value"] for each in polled(gateway, group, 2)} == {
        "k": None,
        None: "",
    }


def test_a_batch_has_one_result_for_each_message(gateway: GatewayProcess, topic: str) -> None:
    messages: Sequence[Any] = [
        {"value": "aGVsbG8=", "partition": 1},
        {"value": "no base64!"},
        {"value": None, "partition": 99},
        {"key": "k"},
        {"value": base64_text(bytes(2_000_000)), "partition": 1},
        {"value": "aGVsbG8=", "partition": 1},
    ]
    answer = gateway.call("POST", f"/topics/{topic}/messages/batch", {"messages": messages})
    assert answer.status == 200
    results = answer.json["offsets"]
    assert [each.get("error") for each in results] == [
        None,
        "INVALID_REQUEST",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "INVALID_REQUEST",
        "MESSAGE_TOO_LARGE",
        None,
    ]
    assert [results[index]["offset"] for index in (0, 5)] == [0, 1]


def test_offsets_are_committed_for_native_members_of_the_group(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    messages = [{"value": base64_text(b"%d" % each), "partition": 1} for each in range(10)]
    gateway.post(f"/topics/{topic}/messages/batch", {"messages": messages})
    gateway.post(f"/consumers/{group}/subscribe", {"topics": [topic]})
    polled(gateway, group, 10)
    offsets = {"offsets": {topic: {"1": 7}}}
    assert gateway.post(f"/consumers/{group}/offsets", offsets) == offsets
    native = KafkaConsumer(
        bootstrap_servers=broker.bootstrap, group_id=group, enable_auto_commit=False
    )
    assert native.committed(PythonPartition(topic, 1)) == 7
    native.close()


def test_seek_repeats_messages(gateway: GatewayProcess, topic: str, group: str) -> None:
    messages = [{"value": base64_text(b"%d" % each), "partition": 2} for each in range(10)]
    gateway.post(f"/topics/{topic}/messages/batch", {"messages": messages})
    gateway.post(f"/consumers/{group}/subscribe", {"topics": [topic]})
    assert [each["offset"] for each in polled(gateway, group, 10)] == list(range(10))
    place = {"topic": topic, "partition": 2, "offset": 6}
    assert gateway.post(f"/consumers/{group}/seek", place) == place
    assert [each["offset"] for each in polled(gateway, group, 4)] == [6, 7, 8, 9]


def test_a_poll_returns_at_most_as_many_messages_as_requested(
    gateway: GatewayProcess, topic: str, group: str
) -> None:
    messages = [{"value": None, "partition": 0}] * 10
    gateway.post(f"/topics/{topic}/messages/batch", {"messages": messages})
    gateway.post(f"/consumers/{group}/subscribe", {"topics": [topic]})
    offsets: list[int] = []
    while len(offsets) < 10:
        found = gateway.get(f"/consumers/{group}/poll?max_records=3&timeout_ms=5000")["messages"]
        assert 0 < len(found) <= 3
        offsets += [each["offset"] for each in found]
    assert offsets == list(range(10))


def test_instances_share_the_partitions_of_a_group_with_native_members(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    native = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 10_000,
        }
    )
    native.subscribe([topic])
    names = ("", "&instance=two")
    for name in names:
        gateway.post(f"/consumers/{group}/subscribe?x=1{name}", {"topics": [topic]})
    for _ in range(100):
        for name in names:
            gateway.get(f"/consumers/{group}/poll?timeout_ms=100{name}")
        native.poll(0.1)
        instances = [
            gateway.get(f"/consumers/{group}/instances/{name}/assignments")["partitions"]
            for name in ("default", "two")
        ]
        if [len(each) for each in instances] == [1, 1] and len(native.assignment()) == 1:
            break
    owned = [each["partition"] for found in instances for each in found]
    owned += [each.partition for each in native.assignment()]
    assert sorted(owned) == [0, 1, 2]
    native.close()


def test_the_trace_of_a_request_is_a_header_of_its_messages(
    gateway: GatewayProcess, broker: Broker, topic: str
) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    headers = {"traceparent": trace}
    gateway.post(f"/topics/{topic}/messages", {"value": None, "partition": 0}, headers)
    own = {"value": None, "partition": 0, "headers": {"traceparent": "own"}}
    gateway.post(f"/topics/{topic}/messages/batch", {"messages": [own]}, headers)
    gateway.post(f"/topics/{topic}/partitions/0", {"records": [{"value": ""}]}, headers)
    found = [message.headers() for message in consumed(broker, topic, 3)]
    assert found == [
        [("traceparent", trace.encode())],
        [("traceparent", b"own")],
        [("traceparent", trace.encode())],
    ]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("POST", "/topics/missing/messages", {"value": None}, 404, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("POST", "/topics/a%20b/messages", {"value": None}, 400, "INVALID_TOPIC_EXCEPTION"),
        ("POST", "/topics/missing/messages", b"{", 400, "INVALID_REQUEST"),
        ("POST", "/topics/missing/messages", {"value": 1}, 400, "INVALID_REQUEST"),
        ("GET", "/consumers/nobody/poll", None, 404, "SESSION_NOT_FOUND"),
        ("GET", "/consumers/nobody/poll?max_records=0", None, 400, "INVALID_REQUEST"),
        ("POST", "/consumers/nobody/subscribe", {"topics": []}, 400, "INVALID_REQUEST"),
        ("PUT", "/consumers/nobody/subscribe", None, 405, "INVALID_REQUEST"),
    ],
)
def test_a_refusal_has_kafkas_name(
    gateway: GatewayProcess, method: str, path: str, body: Any, status: int, error: str
) -> None:
    answer = gateway.call(method, path, body)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["error"] == error
    assert answer.json["status"] == status
    assert answer.json["detail"]


def test_a_seek_in_a_partition_of_another_member_is_refused(
    gateway: GatewayProcess, topic: str, group: str
) -> None:
    gateway.post(f"/consumers/{group}/subscribe", {"topics": [topic]})
    place = {"topic": "another", "partition": 0, "offset": 0}
    answer = gateway.call("POST", f"/consumers/{group}/seek", place)
    assert (answer.status, answer.json["error"]) == (409, "ILLEGAL_STATE")
