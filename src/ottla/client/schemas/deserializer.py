"""The deserialiser of all three types: the record names its schema, and the schema its type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ottla.client.errors import SerializationError
from ottla.client.schemas.codecs import AvroCodec, JsonCodec, RecordCodec, SchemaSet, collect
from ottla.client.schemas.recently_used import RecentlyUsed
from ottla.client.schemas.registry_client import KnownSchema, SchemaRegistryClient
from ottla.client.schemas.serializers import AVRO, PROTOBUF
from ottla.schemas.errors import InvalidPayloadError
from ottla.schemas.framing import FramedData, unframe_record

_SERIALIZED = "serialized"


class SchemaDeserializer:
    """`reader` is an Avro schema as which Avro data are read, whatever they were written with.
    Protobuf messages become dicts, or with `as_messages` messages of dynamic classes."""

    def __init__(
        self,
        registry: SchemaRegistryClient,
        *,
        reader: str | None = None,
        as_messages: bool = False,
    ) -> None:
        self._registry = registry
        self._reader = None if reader is None else SchemaSet(KnownSchema(AVRO, reader, ()), {})
        self._as_messages = as_messages
        self._codecs = RecentlyUsed()

    async def deserialize(
        self,
        data: bytes | None,
        headers: Iterable[tuple[str, bytes | None]] = (),
        *,
        is_key: bool = False,
    ) -> Any:
        """None stays None. Raises SerializationError or RegistryError."""
        if data is None:
            return None
        try:
            framed = unframe_record(data, headers, is_key=is_key)
        except InvalidPayloadError as error:
            raise SerializationError(str(error)) from None
        if framed.schema in self._codecs:
            return _decode(self._codecs.get(framed.schema), framed)
        schemas = await self._schemas(framed.schema)
        codec = self._codec(schemas)
        size = len(schemas.schema.text) + sum(map(len, schemas.references.values()))
        self._codecs.keep(framed.schema, codec, size)
        return _decode(codec, framed)

    async def deserialize_column(self, column: Any, *, is_key: bool = False) -> Any:
        """A column of bytes as a column of values (pyarrow), whose type is that of the values.
        Raises SerializationError or RegistryError."""
        import pyarrow as pa

        values = []
        for data in column.to_pylist():
            values.append(await self.deserialize(data, is_key=is_key))
        return pa.array(values)

    async def _schemas(self, schema: int | str) -> SchemaSet:
        found = await self._schema(schema)
        if found.type != PROTOBUF:
            return await collect(self._registry, found)
        compiled = await self._schema(schema, form=_SERIALIZED)
        return await collect(self._registry, compiled, form=_SERIALIZED)

    def _codec(self, schemas: SchemaSet) -> Any:
        if schemas.schema.type == PROTOBUF:
            from ottla.client.schemas.protobuf_codec import ProtobufCodec

            return ProtobufCodec(schemas, as_messages=self._as_messages)
        if schemas.schema.type == AVRO:
            return AvroCodec(schemas, self._reader)
        return JsonCodec(schemas)

    async def _schema(self, schema: int | str, *, form: str = "") -> KnownSchema:
        if isinstance(schema, int):
            return await self._registry.by_id(schema, form=form)
        return await self._registry.by_guid(schema, form=form)


def _decode(codec: Any, framed: FramedData) -> Any:
    if isinstance(codec, AvroCodec | JsonCodec):
        found: RecordCodec = codec
        return found.decode(framed.data)
    return codec.decode(framed.data, framed.indexes)
