"""Decodes and encodes JSON by its schema, and fits values to their columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ottla.client.errors import SerializationError
from ottla.client.schemas.codecs import JsonCodec, SchemaSet
from ottla.pipeline.definitions.row_decoding import by_row


class JsonColumns:
    def __init__(self, writer: SchemaSet, kind: pa.DataType) -> None:
        self._codec = JsonCodec(writer)
        self._kind = kind

    def decode(self, values: pa.Array) -> tuple[pa.Array, list[str | None]]:
        return by_row(values, self._kind, self._row)

    def _row(self, data: bytes) -> dict[str, Any]:
        value = self._codec.decode(data)
        if not isinstance(value, dict):
            raise SerializationError("the value is not an object")
        found: dict[str, Any] = _fitted(value, self._kind)
        return found


def json_writer(schemas: SchemaSet) -> Callable[[dict[str, Any]], bytes]:
    codec = JsonCodec(schemas)
    schema = json.loads(schemas.schema.text)
    required = set(schema.get("required", ()))
    properties = schema.get("properties", {})

    def write(row: dict[str, Any]) -> bytes:
        kept = {}
        for name, value in row.items():
            if value is None and name not in required:
                # Absent, as most schemas have it.
                continue
            is_text = isinstance(value, str) and not _is_text(properties.get(name, {}))
            kept[name] = json.loads(value) if is_text else value
        return codec.encode(kept)

    return write


def _is_text(schema: Any) -> bool:
    """Whether a column of strings has the strings themselves, and not JSON."""
    return isinstance(schema, dict) and kind_of(schema) == "string"


def kind_of(schema: dict[str, Any]) -> str | None:
    kind = schema.get("type")
    if isinstance(kind, list):
        others = [each for each in kind if each != "null"]
        kind = others[0] if len(others) == 1 else None
    return kind if isinstance(kind, str) else None


def _fitted(value: Any, kind: pa.DataType) -> Any:
    """The value as its column takes it."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: _fitted(value.get(field.name), field.type) for field in kind}
    if pa.types.is_list(kind):
        return [_fitted(each, kind.value_type) for each in value]
    if pa.types.is_string(kind) and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if pa.types.is_integer(kind) and isinstance(value, float) and value.is_integer():
        return int(value)
    if pa.types.is_floating(kind) and isinstance(value, int):
        return float(value)
    return value
