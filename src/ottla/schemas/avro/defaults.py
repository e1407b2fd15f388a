"""Whether a JSON value is a default of an Avro type.

The default of a union is a value of its first branch; since Avro 1.12, of any of them. Bytes and
fixed are strings whose characters are bytes.
"""

from __future__ import annotations

from typing import Any, Final

from ottla.schemas.avro.tree import (
    AvroCollection,
    AvroEnum,
    AvroFixed,
    AvroRecord,
    AvroType,
    AvroUnion,
)

_INTEGERS: Final = {"int": 2**31, "long": 2**63}
_BYTE_MAX: Final = 255


def is_default_of(type_: AvroType, value: Any) -> bool:
    if isinstance(type_, AvroUnion):
        return any(is_default_of(branch, value) for branch in type_.branches)
    if isinstance(type_, AvroRecord):
        return isinstance(value, dict) and all(
            is_default_of(field.type, value[field.name])
            if field.name in value
            else field.has_default
            for field in type_.fields
        )
    if isinstance(type_, AvroEnum):
        return value in type_.symbols
    if isinstance(type_, AvroFixed):
        return _is_bytes(value) and len(value) == type_.size
    if isinstance(type_, AvroCollection):
        if type_.kind == "array":
            values = value if isinstance(value, list) else None
        else:
            values = list(value.values()) if isinstance(value, dict) else None
        return values is not None and all(is_default_of(type_.element, each) for each in values)
    return _is_primitive(type_.kind, value)


def _is_primitive(kind: str, value: Any) -> bool:
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in _INTEGERS:
        bound = _INTEGERS[kind]
        return isinstance(value, int) and not isinstance(value, bool) and -bound <= value < bound
    if kind in ("float", "double"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return _is_bytes(value) if kind == "bytes" else isinstance(value, str)


def _is_bytes(value: Any) -> bool:
    return isinstance(value, str) and all(ord(char) <= _BYTE_MAX for char in value)
