"""What a registry asks of schemas: values in, values out, so that a worker process can do it.

Parsed schemas are kept, because a registry compares with the same versions again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from ottla.schemas.compatibility import CompatibilityLevel, first_conflict
from ottla.schemas.difference import Difference
from ottla.schemas.errors import InvalidSchemaError, SchemaTooComplexError
from ottla.schemas.source import ResolvedReference, SchemaSource, SchemaType

_KEPT_MAX: Final = 500
_SHOWN_MAX: Final = 1000


class ParsedSchema(Protocol):
    """What the three types have in common."""

    canonical: str

    @property
    def normal(self) -> str: ...

    @property
    def top_fields(self) -> frozenset[str]: ...

    def formatted(self, form: str) -> str: ...

    def unreadable(self, writer: Any) -> list[Difference]: ...


class InspectedSchema(NamedTuple):
    """`normal` is the text in the normal form. `top_fields` are the names of the fields of the
    record, object or first message."""

    canonical: str
    normal: str
    top_fields: frozenset[str]


class EarlierVersion(NamedTuple):
    version: int
    source: SchemaSource


def inspect_schema(source: SchemaSource, *, is_strict: bool) -> InspectedSchema:
    """Raises InvalidSchemaError. `is_strict` is for schemas that are new."""
    parsed = _parse(source.type, source.text, source.references, is_strict)
    return InspectedSchema(parsed.canonical, parsed.normal, parsed.top_fields)


def format_schema(source: SchemaSource, form: str) -> str:
    """Raises InvalidSchemaError. A form that the type does not have is the canonical one."""
    return _parse(source.type, source.text, source.references, False).formatted(form)


def check_schema(
    level: CompatibilityLevel, source: SchemaSource, earlier: Sequence[EarlierVersion]
) -> list[str]:
    """Why the schema is not compatible with the earlier versions, in order; empty if it is."""
    if level is CompatibilityLevel.NONE or not earlier:
        return []
    try:
        conflict = first_conflict(level, source, [each.source for each in earlier], _unreadable)
    except (SchemaTooComplexError, InvalidSchemaError) as error:
        return [str(error)]
    if conflict is None:
        return []
    version, old = earlier[conflict.place]
    return [
        *conflict.messages,
        f"{{oldSchemaVersion: {version}}}",
        f"{{oldSchema: '{_shown(old.text)}'}}",
    ]


def _unreadable(reader: SchemaSource, writer: SchemaSource) -> list[Difference]:
    if reader.type is not writer.type:
        return [
            Difference(
                "SCHEMA_TYPE_CHANGED",
                "/",
                f"The {{reader}} schema has the type {reader.type.value} and the {{writer}} schema "
                f"{writer.type.value}",
            )
        ]
    parsed = (_parse(each.type, each.text, each.references, False) for each in (reader, writer))
    first, second = parsed
    return first.unreadable(second)


@lru_cache(_KEPT_MAX)
def _parse(
    type_: SchemaType, text: str, references: tuple[ResolvedReference, ...], is_strict: bool
) -> ParsedSchema:
    """Imports a type's library when it is first used."""
    try:
        return _class_of(type_).parse(text, references, is_strict=is_strict)  # type: ignore[no-any-return]
    except RecursionError:
        raise InvalidSchemaError("the schema nests too deeply") from None


def _class_of(type_: SchemaType) -> Any:
    if type_ is SchemaType.AVRO:
        from ottla.schemas.avro.schema import AvroSchema

        return AvroSchema
    if type_ is SchemaType.JSON:
        from ottla.schemas.json_schema.schema import JsonSchemaDocument

        return JsonSchemaDocument
    from ottla.schemas.protobuf.schema import ProtobufSchema

    return ProtobufSchema


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
