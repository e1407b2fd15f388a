"""Producing to topics that check schemas, beside one that does not: MB/s of one node, and the
processor time of the node and its workers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.figure import Figure
from benchmarks.versus.process_usage import cpu_seconds
from ottla.schemas import SchemaType
from ottla.schemas.framing import frame
from ottla.schemas.registered.records import SchemaWritten, encode_change
from ottla.schemas.registered.schema_version import RegisteredSchema, SchemaVersion
from tests.support.nodes.node_process import NodeProcess

_TEXT: Final = "x" * 980
_AVRO: Final = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "text", "type": "string"}],
}
_JSON: Final = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "text": {"type": "string"}},
    "required": ["id", "text"],
}
_PROTOBUF: Final = 'syntax = "proto3"; message Order { int64 id = 1; string text = 2; }'
# The id and the length of the text are zigzag varints.
_AVRO_DATA: Final = b"\x0e\xa8\x0f" + _TEXT.encode()
_QUEUE_WAIT_SECONDS: Final = 0.05
_WAIT_SECONDS: Final = 60.0


class _Case(NamedTuple):
    name: str
    check: str
    type: SchemaType
    schema: str
    data: bytes


_CASES: Final = (
    _Case("no check", "none", SchemaType.AVRO, json.dumps(_AVRO), _AVRO_DATA),
    _Case("schema-id", "schema-id", SchemaType.AVRO, json.dumps(_AVRO), _AVRO_DATA),
    _Case("full, Avro", "full", SchemaType.AVRO, json.dumps(_AVRO), _AVRO_DATA),
    _Case(
        "full, JSON Schema",
        "full",
        SchemaType.JSON,
        json.dumps(_JSON),
        json.dumps({"id": 7, "text": _TEXT}).encode(),
    ),
    _Case(
        "full, Protobuf",
        "full",
        SchemaType.PROTOBUF,
        _PROTOBUF,
        b"\x00\x08\x07\x12\xd4\x07" + _TEXT.encode(),
    ),
)


def figures(*, quick: bool) -> Iterator[Figure]:
    seconds = 3.0 if quick else 10.0
    with tempfile.TemporaryDirectory() as scratch, NodeProcess(Path(scratch)) as node:
        host, port = node.address
        bootstrap = f"{host}:{port}"
        rates = {}
        for id_, case in enumerate(_CASES, start=1):
            _prepare(bootstrap, id_, case)
            value = frame(id_, case.data)
            _produce(bootstrap, case.name, value, seconds=1.0)
            before = cpu_seconds(node.pid)
            rate = _produce(bootstrap, case.name, value, seconds=seconds)
            used = (cpu_seconds(node.pid) - before) / (rate * seconds / 1_000)
            rates[case.name] = rate
            yield Figure(f"produced, {case.name}", rate, "MB/s", against=rates[_CASES[0].name])
            yield Figure(f"produced, {case.name}, processor time", used, "s/GB")


def _prepare(bootstrap: str, id_: int, case: _Case) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topic = _topic(case.name)
    wanted = {
        "_schemas": {"cleanup.policy": "compact"},
        topic: {"ottla.value.schema.validation": case.check, "retention.bytes": str(1 << 28)},
    }
    known = admin.list_topics(timeout=_WAIT_SECONDS).topics
    for name, configs in wanted.items():
        if name not in known:
            created = admin.create_topics([NewTopic(name, 1, 1, config=configs)])
            created[name].result(_WAIT_SECONDS)
    schema = RegisteredSchema(case.type, case.schema)
    version = SchemaVersion(f"{topic}-value", 1, id_, schema, schema.digest())
    record = encode_change(SchemaWritten(version))
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce("_schemas", record.value, key=record.key)
    assert producer.flush(_WAIT_SECONDS) == 0


def _produce(bootstrap: str, name: str, value: bytes, *, seconds: float) -> float:
    """MB/s."""
    failed: list[object] = []

    def done(error: object, _message: object) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, "acks": "all"})
    topic, count, started = _topic(name), 0, perf_counter()
    while perf_counter() - started < seconds:
        for _ in range(200):
            try:
                producer.produce(topic, value, on_delivery=done)
                count += 1
            except BufferError:
                producer.poll(_QUEUE_WAIT_SECONDS)
        producer.poll(0)
    assert producer.flush(_WAIT_SECONDS) == 0
    assert not failed, failed[0]
    return count * len(value) / (perf_counter() - started) / 1e6


def _topic(name: str) -> str:
    return name.replace(", ", "-").replace(" ", "-")
