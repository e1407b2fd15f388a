"""Converts decoded messages and raw bytes to JSON values.

Bytes become text if they are printable UTF-8, otherwise base64 with a second field, named after the
first with the suffix `_encoding`. UUIDs such as topic ids are written in Kafka's text form.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final, TypeAlias

from ottla.model import Uuid, uuid_to_text
from ottla.wire.schema.fields import fields_of
from ottla.wire.schema.struct import Struct
from ottla.wire.schema.types import Array, FieldType, Fixed

Plain: TypeAlias = Any  # What `json` reads and writes: mypy has no recursive name for it.
Fields: TypeAlias = dict[str, Plain]

ENCODING_SUFFIX: Final = "_encoding"
BASE64: Final = "base64"

_WHITE_SPACE: Final = str.maketrans("\t\n\r", "   ")


def fields_to_plain(struct: Struct, version: int) -> Fields:
    """The fields that a struct has in a version, in the order of their declaration."""
    plain: Fields = {}
    for field in fields_of(type(struct)):
        if version in field.options.versions:
            _put(plain, field.name, getattr(struct, field.name), field.type, version)
    for tag, data in (struct.unknown_tags or {}).items():
        put_bytes(plain, f"unknown_tag_{tag}", data)
    return plain


def put_bytes(plain: Fields, name: str, data: bytes | None) -> None:
    """Sets a field to bytes as text or base64; for base64 it also sets the `_encoding` field."""
    text = None if data is None else printable_text(data)
    if data is None or text is not None:
        plain[name] = text
    else:
        plain[name] = b64encode(data).decode()
        plain[name + ENCODING_SUFFIX] = BASE64


def printable_text(data: bytes) -> str | None:
    """The bytes as UTF-8 text, or None if they are not printable UTF-8."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() or text.translate(_WHITE_SPACE).isprintable() else None


def _put(plain: Fields, name: str, value: Any, field_type: FieldType, version: int) -> None:
    if isinstance(value, bytes) and not isinstance(field_type, Fixed):
        put_bytes(plain, name, value)
    else:
        plain[name] = _value(value, field_type, version)


def _value(value: Any, field_type: FieldType, version: int) -> Plain:
    if isinstance(value, Struct):
        return fields_to_plain(value, version)
    if isinstance(field_type, Array) and value is not None:
        return [_value(element, field_type.element, version) for element in value]
    if isinstance(value, bytes):
        assert isinstance(field_type, Fixed), "no stored message has an array of bytes"
        return uuid_to_text(Uuid(value))
    return value
