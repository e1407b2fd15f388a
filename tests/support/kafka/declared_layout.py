"""A declaration's version, described as the protocol's table describes Kafka's."""

from typing import Any

from ottla.wire.schema import Struct
from ottla.wire.schema.fields import Field, plain_fields, tagged_fields
from ottla.wire.schema.types import Array, Blob, FieldType, Fixed, Nested, TextType
from tests.support.kafka.protocol_table import Layout


def layout_of(cls: type[Struct], version: int, *, flexible: bool) -> Layout:
    layout: Layout = [
        [field.name, _type_of(field, version, flexible=flexible)]
        for field in plain_fields(cls, version)
    ]
    if flexible:
        tags = {
            str(field.options.tag): [field.name, _type_of(field, version, flexible=True)]
            for field in tagged_fields(cls, version)
        }
        layout.append(["#tags", tags])
    else:
        assert not tagged_fields(cls, version)
    return layout


def _type_of(field: Field, version: int, *, flexible: bool) -> Any:
    compact = flexible and version in field.options.flexible
    nullable = field.is_nullable(version)
    if not isinstance(field.type, Array):
        return _element_of(
            field.type, version, flexible=flexible, compact=compact, nullable=nullable
        )
    element = _element_of(
        field.type.element, version, flexible=flexible, compact=compact, nullable=False
    )
    return {"array": element} | ({"nullable": True} if nullable else {})


def _element_of(
    kind: FieldType, version: int, *, flexible: bool, compact: bool, nullable: bool
) -> Any:
    if isinstance(kind, Fixed):
        assert not nullable
        return kind.name
    if isinstance(kind, Nested):
        struct = {"struct": layout_of(kind.struct, version, flexible=flexible)}
        return struct | ({"nullable": True} if nullable else {})
    assert isinstance(kind, TextType | Blob)
    name = "STRING" if isinstance(kind, TextType) else "RECORDS" if kind.records else "BYTES"
    return f"{'COMPACT_' if compact else ''}{'NULLABLE_' if nullable else ''}{name}"
