"""Serialisers and deserialisers by subject, for Avro, JSON Schema and Protobuf.

    registry = SchemaRegistryClient("http://127.0.0.1:8081")
    serializer = AvroSerializer(registry, '{"type": "record", ...}')
    await producer.send("orders", await serializer.serialize("orders", {"id": 1}))

    deserializer = SchemaDeserializer(registry)
    value = await deserializer.deserialize(record.value, record.headers)

The bytes are those of Confluent's clients: a zero, the schema's id, for Protobuf the message's
place in its file, and the data; or the schema's GUID in a header. Needs `ottla[avro]` for Avro and
`ottla[web]` for JSON Schema and Protobuf.
"""

from typing import TYPE_CHECKING

from ottla.exports import lazy_names

if TYPE_CHECKING:
    from ottla.client.schemas.deserializer import SchemaDeserializer
    from ottla.client.schemas.registry_client import (
        KnownSchema,
        SchemaLink,
        SchemaRegistryClient,
    )
    from ottla.client.schemas.registry_http import RegistryError, RegistryUnavailableError
    from ottla.client.schemas.serializers import (
        AvroSerializer,
        JsonSerializer,
        ProtobufSerializer,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "AvroSerializer": "ottla.client.schemas.serializers",
            "JsonSerializer": "ottla.client.schemas.serializers",
            "KnownSchema": "ottla.client.schemas.registry_client",
            "ProtobufSerializer": "ottla.client.schemas.serializers",
            "RegistryError": "ottla.client.schemas.registry_http",
            "RegistryUnavailableError": "ottla.client.schemas.registry_http",
            "SchemaDeserializer": "ottla.client.schemas.deserializer",
            "SchemaLink": "ottla.client.schemas.registry_client",
            "SchemaRegistryClient": "ottla.client.schemas.registry_client",
        },
    )

__all__ = [
    "AvroSerializer",
    "JsonSerializer",
    "KnownSchema",
    "ProtobufSerializer",
    "RegistryError",
    "RegistryUnavailableError",
    "SchemaDeserializer",
    "SchemaLink",
    "SchemaRegistryClient",
]
