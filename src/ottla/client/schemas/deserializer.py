"""The deserialiser of all three types: the record names its schema, and the schema its type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ottla.client.schemas.codecs import AvroCodec, JsonCodec, RecordCodec, SchemaSet, collect
from ottla.client.schemas.framing import FramedData, unframe_record
from ottla.client.schemas.registry_client import KnownSchema, SchemaRegistryClient
from ottla.client.schemas.serializers import AVRO, PROTOBUF

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
        self._codecs: dict[int | str, Any] = {}

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
        framed = unframe_record(data, headers, is_key=is_key)
        if framed.schema not in self._codecs:
            self._codecs[framed.schema] = await self._codec(framed.schema)
        return _decode(self._codecs[framed.schema], framed)

    async def deserialize_column(self, column: Any, *, is_key: bool = False) -> Any:
        """A column of bytes as a column of values (pyarrow), whose type is that of the values.
        Raises SerializationError or RegistryError."""
        import pyarrow as pa

        values = []
        for data in column.to_pylist():
            values.append(await self.deserialize(data, is_key=is_key))
        return pa.array(values)

    async def _codec(self, schema: int | str) -> Any:
        found = await self._schema(schema)
        if found.type == PROTOBUF:
            from ottla.client.schemas.protobuf_codec import ProtobufCodec

            found = await self._schema(schema, form=_SERIALIZED)
            schemas = await collect(self._registry, found, form=_SERIALIZED)
            return ProtobufCodec(schemas, as_messages=self._as_messages)
        schemas = await collect(self._registry, found)
        return AvroCodec(schemas, self._reader) if found.type == AVRO else JsonCodec(schemas)

    async def _schema(self, schema: int | str, *, form: str = "") -> KnownSchema:
        if isinstance(schema, int):
            return await self._registry.by_id(schema, form=form)
        return await self._registry.by_guid(schema, form=form)


def _decode(codec: Any, framed: FramedData) -> Any:
    if isinstance(codec, AvroCodec | JsonCodec):
        found: RecordCodec = codec
        return found.decode(framed.data)
    return codec.decode(framed.data, framed.indexes)
