"""Serialisers: a value to the bytes of a record, with the id of its schema.

The subject is the topic's name and `-value` or `-key`. The schema is registered when it is first
used, unless `registers` is false: then it has to be registered already.
"""

from __future__ import annotations

import base64
from typing import Any, Final

from ottla.client.errors import SerializationError
from ottla.client.schemas.codecs import AvroCodec, JsonCodec, RecordCodec, collect
from ottla.client.schemas.registry_client import KnownSchema, SchemaLink, SchemaRegistryClient
from ottla.schemas.framing import encode_indexes, frame

AVRO: Final = "AVRO"
JSON: Final = "JSON"
PROTOBUF: Final = "PROTOBUF"


def subject_of(topic: str, *, is_key: bool) -> str:
    return f"{topic}-{'key' if is_key else 'value'}"


class _TextSerializer:
    """For schemas that are texts."""

    _type = ""

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: str,
        *,
        references: tuple[SchemaLink, ...] = (),
        registers: bool = True,
        normalizes: bool = False,
    ) -> None:
        self._registry = registry
        self._text = schema
        self._references = references
        self._registers = registers
        self._normalizes = normalizes
        self._codec: RecordCodec | None = None
        self._ids: dict[str, int] = {}

    async def serialize(self, topic: str, value: Any, *, is_key: bool = False) -> bytes | None:
        """None stays None, a tombstone. Raises SerializationError or RegistryError."""
        if value is None:
            return None
        codec, id_ = await self._prepared(topic, is_key=is_key)
        return frame(id_, codec.encode(value))

    async def serialize_column(self, topic: str, column: Any, *, is_key: bool = False) -> Any:
        """A column of values as a column of bytes (pyarrow). Raises SerializationError or
        RegistryError."""
        import pyarrow as pa

        codec, id_ = await self._prepared(topic, is_key=is_key)
        return pa.array(
            [
                None if each is None else frame(id_, codec.encode(each))
                for each in column.to_pylist()
            ],
            pa.binary(),
        )

    async def _prepared(self, topic: str, *, is_key: bool) -> tuple[RecordCodec, int]:
        subject = subject_of(topic, is_key=is_key)
        if subject not in self._ids:
            known = await self._registry.register(
                subject,
                self._text,
                self._type,
                self._references,
                normalizes=self._normalizes,
                is_new=self._registers,
            )
            self._ids[subject] = known.id
        if self._codec is None:
            schema = KnownSchema(self._type, self._text, self._references)
            schemas = await collect(self._registry, schema)
            self._codec = AvroCodec(schemas) if self._type == AVRO else JsonCodec(schemas)
        return self._codec, self._ids[subject]


class AvroSerializer(_TextSerializer):
    """Values as fastavro takes them: dicts for records."""

    _type = AVRO


class JsonSerializer(_TextSerializer):
    """Values as `json` takes them; they are checked against the schema."""

    _type = JSON


class ProtobufSerializer:
    """Messages of generated classes. Registers their file and the files that it imports, each under
    the path of its import."""

    def __init__(
        self, registry: SchemaRegistryClient, *, registers: bool = True, normalizes: bool = False
    ) -> None:
        self._registry = registry
        self._registers = registers
        self._normalizes = normalizes
        self._frames: dict[tuple[str, str], tuple[int, bytes]] = {}

    async def serialize(self, topic: str, value: Any, *, is_key: bool = False) -> bytes | None:
        """Raises SerializationError or RegistryError."""
        if value is None:
            return None
        descriptor = getattr(value, "DESCRIPTOR", None)
        if descriptor is None:
            raise SerializationError(f"{type(value).__name__} is no Protobuf message")
        key = (subject_of(topic, is_key=is_key), descriptor.full_name)
        if key not in self._frames:
            self._frames[key] = await self._register(key[0], descriptor)
        id_, indexes = self._frames[key]
        return frame(id_, indexes + value.SerializeToString())

    async def _register(self, subject: str, descriptor: Any) -> tuple[int, bytes]:
        from ottla.client.schemas.protobuf_codec import message_indexes

        links = await self._register_imports(descriptor.file)
        known = await self._register_file(subject, descriptor.file, links)
        return known.id, encode_indexes(message_indexes(descriptor))

    async def _register_imports(self, file: Any) -> tuple[SchemaLink, ...]:
        from ottla.client.schemas.protobuf_codec import is_built_in

        links = []
        for imported in file.dependencies:
            if not is_built_in(imported.name):
                inner = await self._register_imports(imported)
                await self._register_file(imported.name, imported, inner)
                latest = await self._registry.lookup_version(
                    imported.name, _descriptor_text(imported), PROTOBUF, inner
                )
                links.append(SchemaLink(imported.name, imported.name, latest))
        return tuple(links)

    async def _register_file(
        self, subject: str, file: Any, links: tuple[SchemaLink, ...]
    ) -> KnownSchema:
        return await self._registry.register(
            subject,
            _descriptor_text(file),
            PROTOBUF,
            links,
            normalizes=self._normalizes,
            is_new=self._registers,
        )


def _descriptor_text(file: Any) -> str:
    return base64.b64encode(file.serialized_pb).decode()
