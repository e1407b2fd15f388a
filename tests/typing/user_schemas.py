"""A program with schemas as users write it, checked by mypy in strict mode. It never runs."""

from __future__ import annotations

from ottla.client import Producer
from ottla.client.schemas import (
    AvroSerializer,
    JsonSerializer,
    KnownSchema,
    ProtobufSerializer,
    RegistryError,
    RegistryUnavailableError,
    SchemaDeserializer,
    SchemaLink,
    SchemaRegistryClient,
)


async def write(producer: Producer, message: object) -> None:
    registry = SchemaRegistryClient("http://127.0.0.1:8081", username="me", password="secret")
    avro = AvroSerializer(registry, '"string"', references=(SchemaLink("a", "a-value", 1),))
    json = JsonSerializer(registry, "{}", registers=False)
    protobuf = ProtobufSerializer(registry)
    for data in (
        await avro.serialize("orders", "hello"),
        await json.serialize("orders", {"id": 1}, is_key=True),
        await protobuf.serialize("orders", message),
    ):
        await producer.send("orders", data)


async def read(registry: SchemaRegistryClient, data: bytes) -> KnownSchema | None:
    try:
        print(await SchemaDeserializer(registry, as_messages=True).deserialize(data))
        return await registry.by_id(1)
    except RegistryUnavailableError as error:
        print(error.retriable)
        return None
    except RegistryError as error:
        print(error.code)
        return None
