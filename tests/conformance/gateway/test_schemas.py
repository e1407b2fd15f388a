"""Avro, JSON Schema and Protobuf in REST v2, in the form of Confluent's clients."""

from __future__ import annotations

import json
import socket  # noqa: TID251 - a trap for requests
import subprocess
from collections.abc import Iterator
from io import BytesIO
from itertools import count
from typing import Any

import fastavro
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from ottla.testing import Cluster
from tests.conformance.clients import TIMEOUT_S
from tests.support.nodes.nodes import OTTLA
from tests.support.web.gateway_process import GatewayProcess, running_gateway_process

AVRO = {"Content-Type": "application/vnd.kafka.avro.v2+json"}
PROTOBUF = {"Content-Type": "application/vnd.kafka.protobuf.v2+json"}
JSON_SCHEMA = {"Content-Type": "application/vnd.kafka.jsonschema.v2+json"}
V2 = {"Content-Type": "application/vnd.kafka.v2+json"}
USER: dict[str, Any] = {
    "type": "record",
    "name": "User",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "picture", "type": ["null", "bytes", {"type": "array", "items": "int"}]},
        {"name": "since", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
USERS = [
    {"name": "ada", "picture": None, "since": 1},
    {"name": "bob", "picture": {"bytes": "\u0000\u00ff"}, "since": 2},
    {"name": "cyd", "picture": {"array": [1, 2]}, "since": 3},
]
_numbers = count()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def gateway(cluster: Cluster) -> Iterator[GatewayProcess]:
    command = [str(OTTLA), "registry", "--bootstrap", cluster.bootstrap, "--listen=127.0.0.1:0"]
    registry = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert registry.stdout is not None
    try:
        url = registry.stdout.readline().split()[2]
        with running_gateway_process(cluster.bootstrap, [f"--schema-registry={url}"]) as gateway:
            yield gateway
    finally:
        registry.terminate()
        registry.wait(TIMEOUT_S)
        registry.stdout.close()


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"typed-{next(_numbers)}"
    cluster.create_topic(name)
    return name


def contents(cluster: Cluster, topic: str, number: int) -> list[bytes]:
    native = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": f"native-{topic}"})
    native.assign([TopicPartition(topic, 0, 0)])
    found = [each.value() or b"" for each in native.consume(number, TIMEOUT_S)]
    native.close()
    return found


def read_back(gateway: GatewayProcess, topic: str, format_: str, number: int) -> list[Any]:
    made = gateway.post(
        f"/consumers/{topic}", {"format": format_, "auto.offset.reset": "earliest"}, V2
    )
    base = made["base_uri"].removeprefix(gateway.url)
    gateway.post(f"{base}/assignments", {"partitions": [{"topic": topic, "partition": 0}]}, V2)
    accept = {"Accept": f"application/vnd.kafka.{format_}.v2+json"}
    found: list[Any] = []
    while len(found) < number:
        page = gateway.get(f"{base}/records?timeout=10000", accept)
        assert page
        found += [each["value"] for each in page]
    return found


def read_avro(content: bytes) -> Any:
    return fastavro.schemaless_reader(BytesIO(content), fastavro.parse_schema(USER), None)


def test_avro_is_what_other_clients_write_and_read(
    gateway: GatewayProcess, cluster: Cluster, topic: str
) -> None:
    body = {"value_schema": json.dumps(USER), "records": [{"value": each} for each in USERS]}
    schema_id = gateway.post(f"/topics/{topic}", body, AVRO)["value_schema_id"]
    natives = []
    for content in contents(cluster, topic, len(USERS)):
        assert content[:5] == b"\0" + schema_id.to_bytes(4, "big")
        natives.append(read_avro(content[5:]))
    assert [each["picture"] for each in natives] == [None, b"\0\xff", [1, 2]]
    by_id = {"value_schema_id": schema_id, "records": [{"value": USERS[0]}]}
    gateway.post(f"/topics/{topic}", by_id, AVRO)
    assert read_back(gateway, topic, "avro", 4) == [*USERS, USERS[0]]


def test_values_of_unions_need_no_type(gateway: GatewayProcess, topic: str) -> None:
    plain = {"name": "cyd", "picture": [1, 2], "since": 3}
    body = {"value_schema": json.dumps(USER), "records": [{"value": plain}]}
    gateway.post(f"/topics/{topic}", body, AVRO)
    assert read_back(gateway, topic, "avro", 1) == [USERS[2]]


def test_a_value_of_a_union_keeps_its_type(gateway: GatewayProcess, topic: str) -> None:
    union = [
        "null",
        "boolean",
        "long",
        "double",
        "string",
        "bytes",
        {"type": "map", "values": "int"},
    ]
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}]}
    schema = {
        "type": "record",
        "name": "Outer",
        "fields": [
            {"name": "first", "type": inner},
            {"name": "values", "type": {"type": "array", "items": [*union, "Inner"]}},
        ],
    }
    plain = [None, True, 7, 1.5, "text", {"a": 1}, {"x": 1}]
    body = {
        "value_schema": json.dumps(schema),
        "records": [{"value": {"first": {"x": 1}, "values": plain}}],
    }
    gateway.post(f"/topics/{topic}", body, AVRO)
    [found] = read_back(gateway, topic, "avro", 1)
    assert found["values"] == [
        None,
        {"boolean": True},
        {"long": 7},
        {"double": 1.5},
        {"string": "text"},
        {"map": {"a": 1}},
        {"map": {"x": 1}},
    ]
    body["records"] = [{"value": found}, {"value": {**found, "values": [{"Inner": {"x": 1}}]}}]
    gateway.post(f"/topics/{topic}", body, AVRO)


def test_json_schema_is_checked(gateway: GatewayProcess, cluster: Cluster, topic: str) -> None:
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}}
    body: dict[str, Any] = {"value_schema": json.dumps(schema), "records": [{"value": {"age": 7}}]}
    schema_id = gateway.post(f"/topics/{topic}", body, JSON_SCHEMA)["value_schema_id"]
    assert contents(cluster, topic, 1) == [b"\0" + schema_id.to_bytes(4, "big") + b'{"age":7}']
    assert read_back(gateway, topic, "jsonschema", 1) == [{"age": 7}]
    body["records"] = [{"value": {"age": "seven"}}]
    refused = gateway.call("POST", f"/topics/{topic}", body, JSON_SCHEMA)
    assert (refused.status, refused.json["error_code"]) == (422, 42205)


PROTO = """syntax = "proto3";
import "google/protobuf/timestamp.proto";
message User {
  string name = 1;
  repeated int32 marks = 2;
  Address address = 3;
  google.protobuf.Timestamp since = 4;
  message Address { string town = 1; }
}
message Other { int64 number = 1; }
"""


def test_protobuf_is_what_other_clients_write_and_read(
    gateway: GatewayProcess, cluster: Cluster, topic: str
) -> None:
    value = {
        "name": "ada",
        "marks": [1, 2],
        "address": {"town": "Ulm"},
        "since": "2026-11-19T12:00:00Z",
    }
    body = {"value_schema": PROTO, "records": [{"value": value}]}
    schema_id = gateway.post(f"/topics/{topic}", body, PROTOBUF)["value_schema_id"]
    prefix = b"\0" + schema_id.to_bytes(4, "big")
    [content] = contents(cluster, topic, 1)
    # The indexes of the message, and its first field.
    assert content[:11] == prefix + b"\0" + b"\x0a\x03ada"
    native = Producer({"bootstrap.servers": cluster.bootstrap})
    # Messages 1, and 0 in 0.
    native.produce(topic, prefix + b"\x02\x02" + b"\x08\x07")
    native.produce(topic, prefix + b"\x04\x00\x00" + b"\x0a\x03Ulm")
    native.flush(TIMEOUT_S)
    assert read_back(gateway, topic, "protobuf", 3) == [value, {"number": "7"}, {"town": "Ulm"}]
    body["records"] = [{"value": {"nobody": 1}}]
    refused = gateway.call("POST", f"/topics/{topic}", body, PROTOBUF)
    assert (refused.status, refused.json["error_code"]) == (422, 42205)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"records": [{"value": USERS[0]}]}, 422, 42202),
        ({"records": [{"key": "k"}]}, 422, 42201),
        ({"value_schema_id": 9_999, "records": [{"value": 1}]}, 422, 42205),
        ({"value_schema": '"string"', "records": [{"value": 1}]}, 422, 42205),
        ({"value_schema": '{"type": "nothing"}', "records": [{"value": 1}]}, 408, 40801),
    ],
)
def test_what_does_not_fit_is_refused(
    gateway: GatewayProcess, topic: str, body: Any, status: int, code: int
) -> None:
    refused = gateway.call("POST", f"/topics/{topic}", body, AVRO)
    assert (refused.status, refused.json["error_code"]) == (status, code), refused.content


def test_a_schema_makes_the_gateway_open_no_address(gateway: GatewayProcess, topic: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.settimeout(0.2)
        address = f"http://127.0.0.1:{trap.getsockname()[1]}/schema.json"
        schema = json.dumps({"properties": {"a": {"$ref": address}}})
        body = {"value_schema": schema, "records": [{"value": {"a": 1}}]}
        assert gateway.call("POST", f"/topics/{topic}", body, JSON_SCHEMA).status in (408, 422)
        with pytest.raises(TimeoutError):
            trap.accept()


def test_content_without_a_schema_is_an_error(
    gateway: GatewayProcess, cluster: Cluster, topic: str
) -> None:
    native = Producer({"bootstrap.servers": cluster.bootstrap})
    native.produce(topic, b"\0\0\0")
    native.flush(TIMEOUT_S)
    with pytest.raises(AssertionError, match="value deserialization error for format avro"):
        read_back(gateway, topic, "avro", 1)
