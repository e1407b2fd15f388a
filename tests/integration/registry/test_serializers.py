"""Our serialisers and confluent-kafka's read each other's bytes, by one registry."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import timestamp_pb2, type_pb2

from ottla.client.errors import SerializationError
from ottla.client.schemas import (
    AvroSerializer,
    JsonSerializer,
    ProtobufSerializer,
    RegistryError,
    SchemaDeserializer,
    SchemaRegistryClient,
)
from ottla.client.schemas.registry_client import SchemaLink
from ottla.schemas.framing import VALUE_HEADER, guid_header
from ottla.testing import Cluster
from tests.support.registry.registry_processes import RegistryProcess, running_registries

ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "to", "type": ["null", "string"], "default": None},
        ],
    }
)
PERSON = json.dumps(
    {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
)


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


def run(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


@pytest.mark.parametrize(
    ("kind", "schema", "value"),
    [
        (AvroSerializer, ORDER, {"id": 7, "to": "x"}),
        (AvroSerializer, '"string"', "text"),
        (JsonSerializer, PERSON, {"name": "Ada"}),
    ],
)
def test_a_value_comes_back(
    registry: SchemaRegistryClient, kind: Any, schema: str, value: Any
) -> None:
    async def story() -> None:
        data = await kind(registry, schema).serialize(f"t{abs(hash(schema))}", value)
        assert data is not None
        assert data[0] == 0
        assert await SchemaDeserializer(registry).deserialize(data) == value

    run(story())


def test_a_protobuf_message_comes_back_with_what_its_file_imports(
    registry: SchemaRegistryClient,
) -> None:
    async def story() -> None:
        field = type_pb2.Field(name="a", number=3)
        data = await ProtobufSerializer(registry).serialize("fields", field)
        assert data is not None
        found = await SchemaDeserializer(registry).deserialize(data)
        assert found == {"name": "a", "number": 3}
        message = await SchemaDeserializer(registry, as_messages=True).deserialize(data)
        assert message.number == 3

    run(story())


def test_a_value_that_does_not_fit_is_refused(registry: SchemaRegistryClient) -> None:
    async def story() -> None:
        with pytest.raises(SerializationError, match="Avro"):
            await AvroSerializer(registry, ORDER).serialize("bad", {"id": "x"})
        with pytest.raises(SerializationError, match="name"):
            await JsonSerializer(registry, PERSON).serialize("worse", {"nam": "x"})
        with pytest.raises(SerializationError):
            await SchemaDeserializer(registry).deserialize(b"no schema")
        with pytest.raises(RegistryError) as caught:
            await SchemaDeserializer(registry).deserialize(b"\x00\x00\x01\x00\x00x")
        assert caught.value.code == 40403
        with pytest.raises(RegistryError):
            await AvroSerializer(registry, '"long"', registers=False).serialize("none", 1)

    run(story())


def test_a_schema_with_references(registry: SchemaRegistryClient) -> None:
    inner = '{"type":"record","name":"x.In","fields":[{"name":"n","type":"int"}]}'
    outer = '{"type":"record","name":"Out","fields":[{"name":"i","type":"x.In"}]}'

    async def story() -> None:
        await registry.register("x.In", inner, "AVRO")
        links = (SchemaLink("x.In", "x.In", 1),)
        value = {"i": {"n": 4}}
        data = await AvroSerializer(registry, outer, references=links).serialize("outer", value)
        assert await SchemaDeserializer(registry).deserialize(data) == value

    run(story())


def test_columns_become_columns(registry: SchemaRegistryClient) -> None:
    async def story() -> None:
        rows = pa.array([{"id": 1, "to": None}, None, {"id": 2, "to": "b"}])
        column = await AvroSerializer(registry, ORDER).serialize_column("columns", rows)
        assert column.type == pa.binary()
        assert column[1].as_py() is None
        back = await SchemaDeserializer(registry).deserialize_column(column)
        assert back.to_pylist() == rows.to_pylist()

    run(story())


def test_a_header_may_name_the_schema(registry: SchemaRegistryClient) -> None:
    async def story() -> None:
        known = await registry.register("guid-value", ORDER, "AVRO")
        data = await AvroSerializer(registry, ORDER).serialize("guid", {"id": 1, "to": None})
        assert data is not None
        headers = [(VALUE_HEADER, guid_header(known.guid))]
        found = await SchemaDeserializer(registry).deserialize(data[5:], headers)
        assert found == {"id": 1, "to": None}

    run(story())


def test_a_reader_schema_adds_defaults(registry: SchemaRegistryClient) -> None:
    async def story() -> None:
        data = await AvroSerializer(registry, ORDER).serialize("reader", {"id": 1, "to": None})
        wider = json.loads(ORDER)
        wider["fields"].append({"name": "n", "type": "int", "default": 5})
        reader = SchemaDeserializer(registry, reader=json.dumps(wider))
        assert await reader.deserialize(data) == {"id": 1, "to": None, "n": 5}

    run(story())


def confluent() -> Any:
    return pytest.importorskip("confluent_kafka.schema_registry.avro", reason="needs its extras")


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)
def test_confluents_avro_serialisers_read_and_are_read(
    process: RegistryProcess, registry: SchemaRegistryClient
) -> None:
    avro = confluent()
    from confluent_kafka.schema_registry import SchemaRegistryClient as Theirs
    from confluent_kafka.serialization import MessageField, SerializationContext

    theirs = Theirs({"url": process.url})
    context = SerializationContext("both", MessageField.VALUE)
    value = {"id": 9, "to": "z"}
    written = avro.AvroSerializer(theirs, ORDER)(value, context)
    assert run(SchemaDeserializer(registry).deserialize(written)) == value
    ours = run(AvroSerializer(registry, ORDER).serialize("both", value))
    assert ours == written
    assert avro.AvroDeserializer(theirs)(ours, context) == value


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)
def test_confluents_protobuf_serialisers_read_and_are_read(
    process: RegistryProcess, registry: SchemaRegistryClient
) -> None:
    confluent()
    protobuf = pytest.importorskip("confluent_kafka.schema_registry.protobuf")
    from confluent_kafka.schema_registry import SchemaRegistryClient as Theirs
    from confluent_kafka.serialization import MessageField, SerializationContext

    theirs = Theirs({"url": process.url})
    context = SerializationContext("pb", MessageField.VALUE)
    value = timestamp_pb2.Timestamp(seconds=5)
    conf = {"use.deprecated.format": False}
    written = protobuf.ProtobufSerializer(timestamp_pb2.Timestamp, theirs, conf)(value, context)
    found = run(SchemaDeserializer(registry, as_messages=True).deserialize(written))
    assert found.seconds == 5
    # Their deserialiser cannot read a file that comes with the runtime; the bytes are the same.
    assert run(ProtobufSerializer(registry).serialize("pb", value)) == written
