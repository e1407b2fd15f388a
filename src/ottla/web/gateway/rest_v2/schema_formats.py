"""Formats whose schemas a registry has: a zero byte, the schema's id, and the content."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from struct import Struct as Layout
from typing import Any, Final, Protocol

import jsonschema_rs
import msgspec

from ottla.client.schemas.codecs import SchemaSet
from ottla.client.schemas.serializers import AVRO, JSON, PROTOBUF
from ottla.schemas.errors import SchemaError
from ottla.schemas.json_text import parse_json
from ottla.web.gateway.rest_v2.avro_json import AvroJson
from ottla.web.gateway.rest_v2.embedded_formats import EmbeddedFormat, SchemaChoice, plain_formats
from ottla.web.gateway.rest_v2.protobuf_json import SERIALIZED, ProtobufJson
from ottla.web.gateway.rest_v2.registered_schemas import RegisteredSchemas
from ottla.web.gateway.rest_v2.registry_access import RegistryAccess
from ottla.web.gateway.rest_v2.v2_errors import INVALID_DATA, unprocessable

_PREFIX: Final = Layout(">bI")
_MAGIC: Final = 0
_KEPT_MAX: Final = 500
_DRAFTS: Final = frozenset(
    (
        "http://json-schema.org/draft-04/schema",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    )
)
_encoder: Final = msgspec.json.Encoder()


class SchemaCodec(Protocol):
    """Raises ValueError for what does not fit."""

    def encode(self, value: Any) -> bytes: ...

    def decode(self, content: bytes) -> Any: ...


def _draft(document: dict[str, Any]) -> str | None:
    given = document.get("$schema")
    is_known = isinstance(given, str) and given.rstrip("#") in _DRAFTS
    return given if is_known else None


def _retrieve_nothing(_uri: str) -> Any:
    """A schema must not make the gateway open an address."""
    raise ValueError("it refers to a schema that is not registered")


class JsonSchemaCodec:
    def __init__(self, schemas: SchemaSet) -> None:
        document = parse_json(schemas.schema.text)
        if isinstance(document, dict) and _draft(document) is None:
            # One of its own, which is nowhere to be had.
            document = {name: each for name, each in document.items() if name != "$schema"}
        registry = jsonschema_rs.Registry(
            [(name, parse_json(text)) for name, text in schemas.references.items()],
            retriever=_retrieve_nothing,
        )
        self._validator = jsonschema_rs.validator_for(
            document, registry=registry, retriever=_retrieve_nothing
        )

    def encode(self, value: Any) -> bytes:
        self._require_valid(value)
        return _encoder.encode(value)

    def decode(self, content: bytes) -> Any:
        try:
            return msgspec.json.decode(content)
        except msgspec.MsgspecError as error:
            raise ValueError(str(error)) from None

    def _require_valid(self, value: Any) -> None:
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            raise ValueError(error.message) from None


class RegistryFormat:
    """One of the formats; `codec` makes what encodes and decodes with one schema."""

    def __init__(
        self,
        registry: RegisteredSchemas,
        type_: str,
        codec: Callable[[SchemaSet], SchemaCodec],
        form: str = "",
    ) -> None:
        self._form = form
        self._registry = registry
        self._type = type_
        self._make_codec = codec
        self._codecs: OrderedDict[int, SchemaCodec] = OrderedDict()

    async def prepare(self, topic: str, kind: str, schema: SchemaChoice) -> int | None:
        if not schema:
            return None
        if schema.id is not None:
            await self._codec(schema.id)
            return schema.id
        assert schema.text is not None
        return await self._registry.register(f"{topic}-{kind}", self._type, schema.text)

    async def encode(self, schema_id: int | None, value: Any) -> bytes:
        assert schema_id is not None, "the request names a schema"
        codec = await self._codec(schema_id)
        try:
            return _PREFIX.pack(_MAGIC, schema_id) + codec.encode(value)
        except ValueError as error:
            raise unprocessable(str(error), INVALID_DATA) from None

    async def decode(self, content: bytes) -> Any:
        if len(content) < _PREFIX.size or content[0] != _MAGIC:
            raise ValueError("it does not begin with the id of a schema")
        _, schema_id = _PREFIX.unpack_from(content)
        return (await self._codec(schema_id)).decode(content[_PREFIX.size :])

    async def _codec(self, schema_id: int) -> SchemaCodec:
        known = self._codecs.get(schema_id)
        if known is None:
            schemas = await self._registry.schema(schema_id, self._form)
            if schemas.schema.type != self._type:
                raise unprocessable(
                    f"The schema {schema_id} is of the type {schemas.schema.type}, "
                    f"not {self._type}.",
                    INVALID_DATA,
                )
            try:
                known = self._codecs[schema_id] = self._make_codec(schemas)
            except (SchemaError, ValueError, RecursionError) as error:
                raise unprocessable(
                    f"The schema {schema_id} cannot be used: {error}", INVALID_DATA
                ) from None
            if len(self._codecs) > _KEPT_MAX:
                self._codecs.popitem(last=False)
        return known


def registry_formats(access: RegistryAccess) -> dict[str, EmbeddedFormat]:
    """All formats, with this registry."""
    registry = RegisteredSchemas(access)
    return {
        **plain_formats(),
        "avro": RegistryFormat(
            registry,
            AVRO,
            lambda found: AvroJson(found.schema.text, tuple(found.references.items())),
        ),
        "jsonschema": RegistryFormat(registry, JSON, JsonSchemaCodec),
        "protobuf": RegistryFormat(
            registry,
            PROTOBUF,
            lambda found: ProtobufJson(found.schema.text, found.references.items()),
            SERIALIZED,
        ),
    }
