"""What turns values into bytes and back, for one schema with its references.

Codecs do no I/O: `SchemaSet` collects the texts first.
"""

from __future__ import annotations

import io
import json
from typing import Any, NamedTuple, Protocol

from ottla.client.errors import SerializationError
from ottla.client.schemas.registry_client import KnownSchema, SchemaLink, SchemaRegistryClient


class RecordCodec(Protocol):
    def encode(self, value: Any) -> bytes:
        """Raises SerializationError."""

    def decode(self, data: bytes) -> Any:
        """Raises SerializationError."""


class SchemaSet(NamedTuple):
    """`references` are what the schema needs, what others need first, by the names that schemas
    call them."""

    schema: KnownSchema
    references: dict[str, str]


async def collect(
    registry: SchemaRegistryClient, schema: KnownSchema, *, form: str = ""
) -> SchemaSet:
    """Raises RegistryError."""
    found: dict[str, str] = {}
    await _collect(registry, schema.references, found, set(), form)
    return SchemaSet(schema, found)


async def _collect(
    registry: SchemaRegistryClient,
    links: tuple[SchemaLink, ...],
    found: dict[str, str],
    seen: set[str],
    form: str,
) -> None:
    for link in links:
        if link.name in seen:
            continue
        seen.add(link.name)
        # A schema may refer to versions that were deleted since.
        schema = await registry.by_version(
            link.subject, link.version, form=form, includes_deleted=True
        )
        await _collect(registry, schema.references, found, seen, form)
        found[link.name] = schema.text


class AvroCodec:
    """Values as fastavro has them. With `reader`, data are read as that schema says."""

    def __init__(self, schemas: SchemaSet, reader: SchemaSet | None = None) -> None:
        self._writer = _parse_avro(schemas)
        self._reader = None if reader is None else _parse_avro(reader)

    def encode(self, value: Any) -> bytes:
        import fastavro

        buffer = io.BytesIO()
        try:
            fastavro.schemaless_writer(buffer, self._writer, value)
        except (ValueError, TypeError, KeyError, OverflowError, AttributeError) as error:
            raise SerializationError(f"the value does not fit its Avro schema: {error}") from None
        return buffer.getvalue()

    def decode(self, data: bytes) -> Any:
        import fastavro

        try:
            return fastavro.schemaless_reader(io.BytesIO(data), self._writer, self._reader)
        except (ValueError, TypeError, KeyError, EOFError, IndexError, StopIteration) as error:
            raise SerializationError(f"the data do not fit their Avro schema: {error}") from None


class JsonCodec:
    """Values as `json` has them, checked against the schema in both directions."""

    def __init__(self, schemas: SchemaSet) -> None:
        import jsonschema_rs

        documents = [(name, json.loads(text)) for name, text in schemas.references.items()]
        registry = jsonschema_rs.Registry(documents) if documents else None
        schema = json.loads(schemas.schema.text)
        self._validator = jsonschema_rs.validator_for(schema, registry=registry, offline=True)

    def encode(self, value: Any) -> bytes:
        try:
            data = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            raise SerializationError(f"the value is not JSON: {error}") from None
        self._check(value)
        return data

    def decode(self, data: bytes) -> Any:
        try:
            value = json.loads(data)
        except ValueError as error:
            raise SerializationError(f"the data are not JSON: {error}") from None
        self._check(value)
        return value

    def _check(self, value: Any) -> None:
        if not self._validator.is_valid(value):
            error = next(self._validator.iter_errors(value))
            path = ".".join(str(each) for each in error.instance_path)
            at = f" at {path}" if path else ""
            raise SerializationError(f"the value does not fit its JSON Schema{at}: {error.message}")


def _parse_avro(schemas: SchemaSet) -> Any:
    import fastavro

    named: dict[str, Any] = {}
    try:
        for text in schemas.references.values():
            fastavro.parse_schema(json.loads(text), named_schemas=named)
        return fastavro.parse_schema(json.loads(schemas.schema.text), named_schemas=named)
    except (ValueError, KeyError, TypeError) as error:
        raise SerializationError(f"the Avro schema cannot be used: {error}") from None
