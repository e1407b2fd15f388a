"""Resolves declarations: the fields that a struct has in a version, and their types."""

from __future__ import annotations

import sys
import types
import typing
from dataclasses import dataclass
from functools import cache
from typing import Any

from ottla.wire.schema.struct import FieldOptions, Struct
from ottla.wire.schema.types import Array, Blob, FieldType, Fixed, Nested, TextType


@dataclass(frozen=True, slots=True)
class Field:
    """A resolved field, as the compilers use it."""

    name: str
    type: FieldType
    optional: bool
    options: FieldOptions

    def is_nullable(self, version: int) -> bool:
        narrowed = self.options.nullable
        return self.optional and (narrowed is None or version in narrowed)

    def is_tagged(self, version: int) -> bool:
        return self.options.tag is not None and version in self.options.tagged


@cache
def fields_of(struct: type[Struct]) -> tuple[Field, ...]:
    """All fields of a struct, in wire order."""
    scope = vars(sys.modules[struct.__module__])
    resolved = []
    for name, options in struct.field_options.items():
        annotation = struct.__annotations__[name]
        if isinstance(annotation, str):
            annotation = eval(annotation, scope)  # noqa: S307 - our own declaration's annotation
        field_type, optional = _resolve(annotation)
        resolved.append(Field(name, field_type, optional, options))
    return tuple(resolved)


def plain_fields(struct: type[Struct], version: int) -> list[Field]:
    """The untagged fields of a version, in wire order."""
    return [
        field
        for field in fields_of(struct)
        if version in field.options.versions and not field.is_tagged(version)
    ]


def tagged_fields(struct: type[Struct], version: int) -> list[Field]:
    """The tagged fields of a version, ordered by tag."""
    present = [
        field
        for field in fields_of(struct)
        if version in field.options.versions and field.is_tagged(version)
    ]
    return sorted(present, key=lambda field: field.options.tag or 0)


def absent_fields(struct: type[Struct], version: int) -> list[Field]:
    """The fields that a version does not have."""
    return [field for field in fields_of(struct) if version not in field.options.versions]


def _resolve(annotation: Any) -> tuple[FieldType, bool]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        (inner,) = (part for part in typing.get_args(annotation) if part is not type(None))
        return _resolve(inner)[0], True
    if typing.get_origin(annotation) is list:
        (element,) = typing.get_args(annotation)
        return Array(_resolve(element)[0]), False
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return Nested(annotation), False
    (description,) = annotation.__metadata__
    assert isinstance(description, Fixed | TextType | Blob)
    return description, False


def size_min(field_type: FieldType, version: int, *, flexible: bool) -> int:
    """The minimum encoded size of a value of this type; used to limit declared counts."""
    if isinstance(field_type, Fixed):
        return field_type.size
    if isinstance(field_type, Nested):
        plain = plain_fields(field_type.struct, version)
        return flexible + sum(
            1
            if isinstance(field.type, Nested) and field.is_nullable(version)
            else size_min(field.type, version, flexible=flexible)
            for field in plain
        )
    if flexible:
        return 1
    return 2 if isinstance(field_type, TextType) else 4
