"""Protobuf messages as rows, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Any, Final

import pyarrow as pa

from ottla.client.errors import SerializationError
from ottla.client.schemas.codecs import SchemaSet
from ottla.client.schemas.protobuf_codec import ProtobufCodec
from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.row_decoding import by_row
from ottla.schemas.framing import encode_indexes

TIMESTAMP: Final = "google.protobuf.Timestamp"
_CPP_NAMES: Final = (
    "INT32",
    "INT64",
    "UINT32",
    "UINT64",
    "DOUBLE",
    "FLOAT",
    "BOOL",
    "ENUM",
    "STRING",
)


class ProtobufColumns:
    def __init__(self, writer: SchemaSet, kind: pa.DataType) -> None:
        self._codec = ProtobufCodec(writer, as_messages=True)
        self._kind = kind

    def decode(self, values: pa.Array) -> tuple[pa.Array, list[str | None]]:
        return by_row(values, self._kind, lambda data: _row(self._codec.decode(data)))


def protobuf_writer(schemas: SchemaSet) -> Callable[[dict[str, Any]], bytes]:
    """Of the first message of the file."""
    from google.protobuf import message_factory

    message_class = message_factory.GetMessageClass(descriptor_of(schemas, ""))
    indexes = encode_indexes([0])

    def write(row: dict[str, Any]) -> bytes:
        message = message_class()
        _fill(message, row)
        found: bytes = indexes + message.SerializeToString()
        return found

    return write


def descriptor_of(schemas: SchemaSet, name: str) -> Any:
    codec = ProtobufCodec(schemas, as_messages=True)
    try:
        first = codec.message_class([0]).DESCRIPTOR
    except SerializationError as error:
        raise DefinitionError(f"the Protobuf file has no message: {error}") from None
    if not name:
        return first
    found = first.file.message_types_by_name.get(name)
    if found is None:
        known = ", ".join(first.file.message_types_by_name)
        raise DefinitionError(f"the Protobuf file has no message {name}; it has {known}")
    return found


def cpp_name(field: Any) -> str:
    for name in _CPP_NAMES:
        if field.cpp_type == getattr(field, f"CPPTYPE_{name}"):
            return name
    raise DefinitionError(f"the field {field.full_name} has a type that Spark does not have")


def is_repeated(field: Any) -> bool:
    return bool(field.is_repeated)


def is_map(field: Any) -> bool:
    return (
        is_repeated(field)
        and field.message_type is not None
        and field.message_type.GetOptions().map_entry
    )


def _row(message: Any) -> dict[str, Any]:
    return {field.name: _value(message, field) for field in message.DESCRIPTOR.fields}


def _value(message: Any, field: Any) -> Any:
    value = getattr(message, field.name)
    if is_map(field):
        inner = field.message_type.fields_by_name["value"]
        return [(key, _plain(each, inner)) for key, each in value.items()]
    if is_repeated(field):
        return [_plain(each, field) for each in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _plain(value, field)


def _plain(value: Any, field: Any) -> Any:
    if field.message_type is not None:
        if field.message_type.full_name == TIMESTAMP:
            return value.ToDatetime(tzinfo=UTC)
        return _row(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return str(value) if known is None else known.name
    return value


def _fill(message: Any, row: Mapping[str, Any]) -> None:
    """Raises SerializationError, which names the field."""
    fields = message.DESCRIPTOR.fields_by_name
    for name, value in row.items():
        if value is None:
            continue
        try:
            _set(message, fields[name], value)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise SerializationError(f"the field {name} cannot take {value!r}: {error}") from None


def _set(message: Any, field: Any, value: Any) -> None:
    target = getattr(message, field.name)
    if is_map(field):
        inner = field.message_type.fields_by_name["value"]
        for key, each in value.items():
            if inner.message_type is not None:
                _fill_message(target[key], each)
            else:
                target[key] = _encoded(each, inner)
    elif is_repeated(field) and field.message_type is not None:
        for each in value:
            _fill_message(target.add(), each)
    elif is_repeated(field):
        target.extend(_encoded(each, field) for each in value)
    elif field.message_type is not None:
        target.SetInParent()
        _fill_message(target, value)
    else:
        setattr(message, field.name, _encoded(value, field))


def _fill_message(message: Any, value: Any) -> None:
    if message.DESCRIPTOR.full_name == TIMESTAMP:
        message.FromDatetime(value)
    else:
        _fill(message, value)


def _encoded(value: Any, field: Any) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values_by_name[value].number
    return int(value) if cpp_name(field) == "UINT64" else value
