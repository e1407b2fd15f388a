"""Pipelines' formats by subject, without Spark: columns from and to the bytes of serialisers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: run `make setup`")
pytest.importorskip("fastavro", reason="fastavro is not installed: run `make setup`")

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type

from ottla.client.schemas import (
    AvroSerializer,
    JsonSerializer,
    RegistryError,
    SchemaDeserializer,
    SchemaRegistryClient,
)
from ottla.pipeline import Avro, DefinitionError, JsonSchema, Protobuf, UnwritableRowError
from ottla.pipeline.definitions.subject_columns import decoding, encoding
from ottla.pipeline.definitions.subjects import SubjectFormat
from ottla.testing import Cluster
from tests.support.registry.registry_processes import RegistryProcess, running_registries

FLAT = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
LATER = {
    **FLAT,
    "fields": [*FLAT["fields"], {"name": "shop", "type": ["null", "string"], "default": None}],
}
NESTED = {
    "type": "record",
    "name": "Basket",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "items", "type": {"type": "array", "items": "string"}},
    ],
}
TRIP = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
message Trip {
    int32 id = 1;
    uint64 big = 2;
    Kind kind = 3;
    repeated Stop stops = 4;
    map<string, int64> counts = 5;
    google.protobuf.Timestamp at = 6;
    optional string note = 7;
    bytes raw = 8;
}
message Stop { string town = 1; }
enum Kind { NONE = 0; FAST = 1; }
"""
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": ["integer", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "any": {},
    },
    "required": ["name"],
}


@pytest.fixture(scope="module")
def process() -> Iterator[RegistryProcess]:
    with (
        Cluster(properties={"group.initial.rebalance.delay.ms": "0"}) as cluster,
        running_registries(cluster.bootstrap, 1) as (registry,),
    ):
        yield registry


@pytest.fixture
def registry(process: RegistryProcess) -> SchemaRegistryClient:
    return SchemaRegistryClient(process.url)


def read(form: SubjectFormat, values: list[bytes | None]) -> list[tuple[Any, str | None]]:
    """The fields and the reason of each value."""
    subject = form.latest()
    found = decoding(subject, form.columns(subject))(pa.array(values, pa.binary())).to_pylist()
    return [(each["fields"], each["reason"]) for each in found]


def write(form: SubjectFormat, rows: list[dict[str, Any]]) -> list[bytes]:
    values: list[bytes] = encoding(form.latest())(pa.array(rows)).to_pylist()
    return values


def serialized(serializer: Any, topic: str, *rows: Any) -> list[bytes]:
    async def all_of_them() -> list[bytes]:
        return [await serializer.serialize(topic, row) for row in rows]

    return asyncio.run(all_of_them())


def deserialized(registry: SchemaRegistryClient, values: list[bytes]) -> list[Any]:
    async def all_of_them() -> list[Any]:
        return [await SchemaDeserializer(registry).deserialize(value) for value in values]

    return asyncio.run(all_of_them())


def test_avro_of_several_versions_has_the_columns_of_the_latest(
    process: RegistryProcess, registry: SchemaRegistryClient
) -> None:
    old = serialized(AvroSerializer(registry, json.dumps(FLAT)), "orders", {"id": 1}, {"id": 2})
    new = serialized(AvroSerializer(registry, json.dumps(LATER)), "orders", {"id": 3, "shop": "x"})
    form = Avro(subject="orders-value", registry=process.url)
    unknown = b"\x00\x00\x0f\x00\x00\x02"
    given = [new[0], old[0], None, b"plain", old[1], unknown, new[0] + b"z", new[0][:5]]
    assert read(form, given) == [
        ({"id": 3, "shop": "x"}, None),
        ({"id": 1, "shop": None}, None),
        (None, "is null"),
        (None, "does not begin with the id of a schema"),
        ({"id": 2, "shop": None}, None),
        (None, "has the schema id 983040, which the registry refuses: Schema 983040 not found"),
        (None, "is not an Avro record Order: bytes are left behind its last field"),
        (None, "is not an Avro record Order: its field id cannot be read"),
    ]
    written = write(form, [{"id": 7, "shop": None}])
    assert deserialized(registry, written) == [{"id": 7, "shop": None}]


def test_nested_avro_names_the_field_that_fails(
    process: RegistryProcess, registry: SchemaRegistryClient
) -> None:
    row = {"id": 1, "items": ["a", "b"]}
    (value,) = serialized(AvroSerializer(registry, json.dumps(NESTED)), "baskets", row)
    form = Avro(subject="baskets-value", registry=process.url)
    assert read(form, [value, value[:-2]]) == [
        (row, None),
        (None, "is not an Avro record Basket: its field items cannot be read"),
    ]
    assert deserialized(registry, write(form, [row])) == [row]


def test_json_is_checked_and_names_the_field_that_fails(
    process: RegistryProcess, registry: SchemaRegistryClient
) -> None:
    person = {"name": "Ada", "age": 36, "tags": ["a"], "any": {"x": 1}}
    (value,) = serialized(JsonSerializer(registry, json.dumps(PERSON)), "people", person)
    form = JsonSchema(subject="people-value", registry=process.url)
    wrong = value[:5] + b'{"name": "Bob", "age": "old"}'
    (good, none), (_, reason) = read(form, [value, wrong])
    assert (good, none) == ({**person, "any": '{"x": 1}'}, None)
    assert reason is not None
    assert reason.startswith("the value does not fit its JSON Schema at age: ")
    row = {"name": "Cy", "age": None, "tags": ["b"], "any": "[1]"}
    assert deserialized(registry, write(form, [row])) == [{"name": "Cy", "tags": ["b"], "any": [1]}]
    with pytest.raises(UnwritableRowError, match="name"):
        write(form, [{"age": 1}])


def test_protobuf_messages_are_rows(
    process: RegistryProcess, registry: SchemaRegistryClient
) -> None:
    asyncio.run(registry.register("trips-value", TRIP, "PROTOBUF"))
    form = Protobuf(subject="trips-value", registry=process.url)
    row = {
        "id": 7,
        "big": Decimal(2**64 - 1),
        "kind": "FAST",
        "stops": [{"town": "Oranienburg"}, {"town": "Berlin"}],
        "counts": [("a", 1)],
        "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "note": None,
        "raw": b"xy",
    }
    subject = form.latest()
    kind = to_arrow_type(form.columns(subject), timezone="UTC")
    (value,) = encoding(subject)(pa.array([row], kind)).to_pylist()
    whole, cut, empty = read(form, [value, value[:-1], value[:5]])
    assert whole == (row, None)
    assert str(cut[1]).startswith("the data are no such message: Error parsing message")
    assert empty[1] == "the record ends within its message indexes"
    assert deserialized(registry, [value])[0]["stops"] == row["stops"]
    with pytest.raises(UnwritableRowError, match="the field kind cannot take 'SLOW'"):
        write(form, [{"kind": "SLOW"}])
    with pytest.raises(DefinitionError, match="has no message Ship; it has "):
        Protobuf(subject="trips-value", registry=process.url, message="Ship").columns(subject)


def test_a_subject_that_does_not_fit_is_a_mistake_of_the_definition(
    process: RegistryProcess, registry: SchemaRegistryClient
) -> None:
    with pytest.raises(DefinitionError, match="cannot be read from the registry"):
        Avro(subject="none-value", registry=process.url).latest()
    serialized(JsonSerializer(registry, json.dumps(PERSON)), "humans", {"name": "A"})
    with pytest.raises(DefinitionError, match="has schemas of the type JSON, not AVRO"):
        Avro(subject="humans-value", registry=process.url).latest()
    with pytest.raises(DefinitionError, match="either a schema or a subject"):
        Avro()


def test_a_registry_that_does_not_answer_rejects_nothing(
    process: RegistryProcess, registry: SchemaRegistryClient
) -> None:
    (value,) = serialized(AvroSerializer(registry, json.dumps(FLAT)), "later", {"id": 1})
    serialized(AvroSerializer(registry, json.dumps(LATER)), "later", {"id": 1, "shop": None})
    form = Avro(subject="later-value", registry=process.url)
    subject = form.latest()
    gone = replace(subject, registry="http://127.0.0.1:9")
    with pytest.raises(RegistryError):
        decoding(gone, form.columns(subject))(pa.array([value], pa.binary()))
