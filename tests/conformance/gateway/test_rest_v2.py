"""REST v2, with native clients on the other side."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.conformance.clients import TIMEOUT_S
from tests.support.kafka.kafka_broker import Broker
from tests.support.web.gateway_process import GatewayProcess

JSON = {"Content-Type": "application/vnd.kafka.json.v2+json"}
ACCEPT_JSON = {"Accept": "application/vnd.kafka.json.v2+json"}
V2 = {"Content-Type": "application/vnd.kafka.v2+json"}
VALUES: list[Any] = [{"a": 1}, [1, 2], "text", 7, None]


def records(gateway: GatewayProcess, base: str, count: int, **headers: str) -> list[Any]:
    found: list[Any] = []
    for _ in range(30):
        if len(found) >= count:
            break
        found += gateway.get(f"{base}/records?timeout=2000", headers)
    assert len(found) == count, found
    return found


def instance(gateway: GatewayProcess, group: str, **options: str) -> str:
    """The path of a new consumer."""
    given = {"auto.offset.reset": "earliest", **options}
    made = gateway.post(f"/consumers/{group}", given, V2)
    path: str = made["base_uri"].removeprefix(gateway.url)
    assert path == f"/consumers/{group}/instances/{made['instance_id']}"
    return path


def test_json_records_arrive_as_json(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    body = {"records": [{"key": {"k": 1}, "value": value, "partition": 1} for value in VALUES]}
    answer = gateway.post(f"/topics/{topic}", body, JSON)
    assert [(each["partition"], each["offset"]) for each in answer["offsets"]] == [
        (1, number) for number in range(len(VALUES))
    ]
    native = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": f"native-{topic}"})
    native.assign([TopicPartition(topic, 1, 0)])
    values = [each.value() for each in native.consume(len(VALUES), TIMEOUT_S)]
    native.close()
    assert [None if each is None else json.loads(each) for each in values] == VALUES
    base = instance(gateway, group, format="json")
    gateway.post(f"{base}/subscription", {"topics": [topic]}, V2)
    found = records(gateway, base, len(VALUES), **ACCEPT_JSON)
    assert [each["value"] for each in found] == VALUES
    assert {each["key"]["k"] for each in found} == {1}
    assert gateway.call("DELETE", base).status == 204


def test_binary_records_are_equal_both_ways(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    content = base64.b64encode(bytes(range(256))).decode()
    gateway.post(f"/topics/{topic}/partitions/2", {"records": [{"key": content, "value": content}]})
    native = Producer({"bootstrap.servers": broker.bootstrap})
    native.produce(topic, bytes(range(256)), bytes(range(256)), partition=2)
    native.flush(TIMEOUT_S)
    base = instance(gateway, group)
    gateway.post(f"{base}/assignments", {"partitions": [{"topic": topic, "partition": 2}]}, V2)
    found = records(gateway, base, 2)
    assert [(each["key"], each["value"], each["offset"]) for each in found] == [
        (content, content, 0),
        (content, content, 1),
    ]


def test_a_slash_at_the_end_of_a_path_means_nothing(gateway: GatewayProcess, topic: str) -> None:
    assert gateway.get(f"/topics/{topic}/partitions/") == gateway.get(f"/topics/{topic}/partitions")


def test_a_pattern_subscribes_to_the_topics_that_match(
    gateway: GatewayProcess, topic: str, group: str
) -> None:
    gateway.post(f"/topics/{topic}", {"records": [{"value": ""}]})
    base = instance(gateway, group)
    pattern = {"topic_pattern": re.escape(topic[:-1]) + topic[-1]}
    gateway.post(f"{base}/subscription", pattern, V2)
    records(gateway, base, 1)
    assert gateway.get(f"{base}/subscription") == {"topics": [topic]}


def test_offsets_are_those_of_processed_records(
    gateway: GatewayProcess, broker: Broker, topic: str, group: str
) -> None:
    gateway.post(f"/topics/{topic}/partitions/0", {"records": [{"value": ""}] * 5})
    base = instance(gateway, group, **{"auto.commit.enable": "false"})
    place = {"topic": topic, "partition": 0}
    gateway.post(f"{base}/subscription", {"topics": [topic]}, V2)
    records(gateway, base, 5)
    gateway.post(f"{base}/offsets", {"offsets": [{**place, "offset": 2, "metadata": "m"}]}, V2)
    assert _committed(gateway, base, place) == [{**place, "offset": 3, "metadata": "m"}]
    gateway.post(f"{base}/offsets")
    assert _committed(gateway, base, place) == [{**place, "offset": 5, "metadata": ""}]
    native = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    [committed] = native.committed([TopicPartition(topic, 0)], TIMEOUT_S)
    assert committed.offset == 5
    native.close()


def _committed(gateway: GatewayProcess, base: str, place: dict[str, Any]) -> list[Any]:
    answer = gateway.call("GET", f"{base}/offsets", {"partitions": [place]}, V2)
    assert answer.status == 200
    found: list[Any] = answer.json["offsets"]
    return found


def test_positions_move(gateway: GatewayProcess, topic: str, group: str) -> None:
    gateway.post(f"/topics/{topic}/partitions/0", {"records": [{"value": ""}] * 5})
    base = instance(gateway, group)
    place = {"topic": topic, "partition": 0}
    gateway.post(f"{base}/assignments", {"partitions": [place]}, V2)
    assert gateway.get(f"{base}/assignments") == {"partitions": [place]}
    records(gateway, base, 5)
    gateway.post(f"{base}/positions", {"offsets": [{**place, "offset": 3}]}, V2)
    assert [each["offset"] for each in records(gateway, base, 2)] == [3, 4]
    gateway.post(f"{base}/positions/beginning", {"partitions": [place]}, V2)
    assert [each["offset"] for each in records(gateway, base, 5)] == list(range(5))
    gateway.post(f"{base}/positions/end", {"partitions": [place]}, V2)
    assert gateway.get(f"{base}/records?timeout=300") == []


def test_records_stay_within_max_bytes(gateway: GatewayProcess, topic: str, group: str) -> None:
    value = base64.b64encode(bytes(1_000)).decode()
    gateway.post(f"/topics/{topic}/partitions/0", {"records": [{"value": value}] * 20})
    base = instance(gateway, group)
    place = {"topic": topic, "partition": 0}
    gateway.post(f"{base}/assignments", {"partitions": [place]}, V2)
    found: list[int] = []
    while len(found) < 20:
        page = gateway.get(f"{base}/records?timeout=5000&max_bytes=5000")
        assert 0 < len(page) <= 5
        found += [each["offset"] for each in page]
    assert found == list(range(20))


def test_topics_and_partitions_are_listed(gateway: GatewayProcess, topic: str) -> None:
    assert topic in gateway.get("/topics")
    described = gateway.get(f"/topics/{topic}")
    assert described["name"] == topic
    assert described["configs"]["cleanup.policy"] == "delete"
    partitions = gateway.get(f"/topics/{topic}/partitions")
    assert partitions == described["partitions"]
    assert [each["partition"] for each in partitions] == [0, 1, 2]
    leader = partitions[0]["leader"]
    assert partitions[0]["replicas"] == [{"broker": leader, "leader": True, "in_sync": True}]
    assert gateway.get(f"/topics/{topic}/partitions/1") == partitions[1]
    assert gateway.get("/brokers") == {"brokers": [leader]}
    gateway.post(f"/topics/{topic}/partitions/1", {"records": [{"value": ""}] * 3})
    offsets = gateway.get(f"/topics/{topic}/partitions/1/offsets")
    assert offsets == {"beginning_offset": 0, "end_offset": 3}


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "code"),
    [
        ("POST", "/topics/missing", {"records": [{"value": ""}]}, {}, 404, 40401),
        ("GET", "/topics/missing", None, {}, 404, 40401),
        ("GET", "/topics/missing/partitions", None, {}, 404, 40401),
        ("GET", "/topics/TOPIC/partitions/9", None, {}, 404, 40402),
        ("POST", "/topics/TOPIC/partitions/9", {"records": [{"value": ""}]}, {}, 404, 40402),
        ("POST", "/topics/TOPIC", {"records": []}, JSON, 422, 422),
        ("POST", "/topics/TOPIC", {"records": [{"valu": 1}]}, JSON, 422, 422),
        ("POST", "/topics/TOPIC", {"records": "x"}, JSON, 400, 400),
        ("POST", "/topics/TOPIC", {"records": [{"value": "?"}]}, {}, 400, 400),
        (
            "POST",
            "/topics/TOPIC",
            {"records": [{"value": 1}]},
            {"Content-Type": "application/vnd.kafka.avro.v2+json"},
            422,
            None,
        ),
        ("POST", "/topics/TOPIC", {}, {"Content-Type": "text/plain"}, 415, 415),
        ("GET", "/topics", None, {"Accept": "text/html"}, 406, 406),
        ("GET", "/consumers/g/instances/i/records", None, {}, 404, 40403),
        ("POST", "/consumers/g", {"format": "xml"}, V2, 422, 42204),
        ("POST", "/consumers/g", {"auto.offset.reset": "middle"}, V2, 422, 42204),
        ("POST", "/consumers/g", {"fetch.min.bytes": -10}, V2, 422, 42204),
    ],
)
def test_an_error_has_its_number(
    gateway: GatewayProcess,
    topic: str,
    method: str,
    path: str,
    body: Any,
    headers: dict[str, str],
    status: int,
    code: int | None,
) -> None:
    answer = gateway.call(method, path.replace("TOPIC", topic), body, headers)
    assert answer.status == status, answer.content
    assert answer.json["message"]
    assert code in (None, answer.json["error_code"])


def test_an_instance_is_used_in_one_way(gateway: GatewayProcess, topic: str, group: str) -> None:
    base = instance(gateway, group, name="one")
    again = gateway.call("POST", f"/consumers/{group}", {"name": "one"}, V2)
    assert (again.status, again.json["error_code"]) == (409, 40902)
    gateway.post(f"{base}/subscription", {"topics": [topic]}, V2)
    place = {"partitions": [{"topic": topic, "partition": 0}]}
    refused = gateway.call("POST", f"{base}/assignments", place, V2)
    assert (refused.status, refused.json["error_code"]) == (409, 40903)
    elsewhere = {"offsets": [{"topic": "elsewhere", "partition": 0, "offset": 0}]}
    refused = gateway.call("POST", f"{base}/positions", elsewhere, V2)
    assert (refused.status, refused.json["error_code"]) == (409, 40903)
    assert gateway.call("GET", f"{base}/records", None, ACCEPT_JSON).json["error_code"] == 40601
    assert gateway.call("DELETE", base).status == 204
    assert gateway.call("DELETE", base).json["error_code"] == 40403


def test_a_record_of_another_format_is_an_error_and_is_not_skipped(
    gateway: GatewayProcess, topic: str, group: str
) -> None:
    gateway.post(
        f"/topics/{topic}/partitions/0", {"records": [{"value": "e30="}, {"value": "ew=="}]}
    )
    base = instance(gateway, group, format="json")
    place = {"topic": topic, "partition": 0}
    gateway.post(f"{base}/assignments", {"partitions": [place]}, V2)
    for _ in range(2):
        refused = gateway.call("GET", f"{base}/records?timeout=5000", None, ACCEPT_JSON)
        assert refused.status == 422
        assert f"{topic} partition 0 offset 1" in refused.json["message"]
