"""Avro's values in JSON, by its specification: a value of a union is `{"type": value}`, bytes are
strings of the characters U+0000 to U+00FF.

Values of unions are also accepted without their type, as other proxies do.
"""

from __future__ import annotations

import io
import struct
from typing import Any, Final

import fastavro
from fastavro.types import Schema

from ottla.schemas.json_text import parse_json

# What a value of another type leads to.
_MISFITS: Final = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    OverflowError,
    RecursionError,
    struct.error,
)
_NATIVES: Final[dict[str, type | tuple[type, ...]]] = {
    "null": type(None),
    "boolean": bool,
    "float": float,
    "double": float,
    "string": str,
    "bytes": bytes,
    "array": list,
    "map": dict,
}


class AvroJson:
    """Values of one schema: JSON to bytes, and back. Raises ValueError for what does not fit."""

    def __init__(self, text: str, references: tuple[tuple[str, str], ...] = ()) -> None:
        self._named: dict[str, Any] = {}
        for _, each in references:
            fastavro.parse_schema(_plain(parse_json(each)), named_schemas=self._named)
        schema = _plain(parse_json(text))
        self._schema: Schema = fastavro.parse_schema(schema, named_schemas=self._named)

    def encode(self, value: Any) -> bytes:
        target = io.BytesIO()
        try:
            native = self._to_native(self._schema, value)
            fastavro.schemaless_writer(target, self._schema, native, strict=True)
        except _MISFITS as error:
            raise ValueError(f"Object does not fit to stored schema: {error}") from None
        return target.getvalue()

    def decode(self, content: bytes) -> Any:
        source = io.BytesIO(content)
        try:
            native = fastavro.schemaless_reader(source, self._schema, None)
        except (ValueError, TypeError, IndexError, EOFError, OverflowError) as error:
            raise ValueError(f"the content is not of this schema: {error}") from None
        if source.read(1):
            raise ValueError("the content is longer than its schema says")
        return self._to_json(self._schema, native)

    # ----

    def _resolved(self, schema: Any) -> tuple[Any, str]:
        """The schema, and the name of its type."""
        if isinstance(schema, list):
            return schema, "union"
        if isinstance(schema, str):
            known = self._named.get(schema)
            return (schema, schema) if known is None else self._resolved(known)
        kind = schema["type"]
        if isinstance(kind, dict | list):
            return self._resolved(kind)
        return schema, "record" if kind == "error" else kind

    def _to_native(self, schema: Any, value: Any) -> Any:
        schema, kind = self._resolved(schema)
        match kind:
            case "union":
                return self._of_union(schema, value)
            case "record":
                return self._of_record(schema, value)
            case "array":
                return [self._to_native(schema["items"], each) for each in value]
            case "map":
                return {
                    name: self._to_native(schema["values"], each) for name, each in value.items()
                }
            case "bytes" | "fixed":
                return value.encode("latin-1")
            case "float" | "double":
                return float(value) if type(value) is int else value
        return value

    def _of_record(self, schema: Any, value: Any) -> Any:
        fields = {field["name"]: field for field in schema["fields"]}
        unknown = value.keys() - fields.keys()
        if unknown:
            raise ValueError(f"there is no field {min(unknown)}")
        return {
            name: self._to_native(field["type"], value[name])
            for name, field in fields.items()
            if name in value
        }

    def _of_union(self, branches: Any, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dict) and len(value) == 1:
            [(name, inner)] = value.items()
            for branch in branches:
                if self._name(branch) == name:
                    return self._to_native(branch, inner)
        for branch in branches:
            try:
                native = self._to_native(branch, value)
            except _MISFITS:
                continue
            if self._fits(branch, native):
                return native
        raise ValueError(f"{value!r} is of no type of the union")

    def _to_json(self, schema: Any, native: Any) -> Any:
        schema, kind = self._resolved(schema)
        match kind:
            case "union":
                return self._union_json(schema, native)
            case "record":
                return {
                    field["name"]: self._to_json(field["type"], native[field["name"]])
                    for field in schema["fields"]
                }
            case "array":
                return [self._to_json(schema["items"], each) for each in native]
            case "map":
                return {
                    name: self._to_json(schema["values"], each) for name, each in native.items()
                }
        if isinstance(native, bytes):
            return native.decode("latin-1")
        return native

    def _union_json(self, branches: Any, native: Any) -> Any:
        if native is None:
            return None
        for branch in branches:
            if self._fits(branch, native):
                return {self._name(branch): self._to_json(branch, native)}
        raise ValueError("a value is of no type of its union")

    def _fits(self, schema: Any, native: Any) -> bool:
        """Whether a value of a union is of this branch, as far as its own type tells."""
        schema, kind = self._resolved(schema)
        match kind:
            case "record":
                fields = {each["name"]: "default" in each for each in schema["fields"]}
                return isinstance(native, dict) and all(
                    has_default or name in native for name, has_default in fields.items()
                )
            case "int" | "long":
                return type(native) is int
            case "enum":
                return native in schema["symbols"]
            case "fixed":
                return isinstance(native, bytes) and len(native) == schema["size"]
        return isinstance(native, _NATIVES.get(kind, ()))

    def _name(self, schema: Any) -> str:
        resolved, kind = self._resolved(schema)
        name: str = resolved.get("name", kind) if isinstance(resolved, dict) else kind
        return name


def _plain(schema: Any) -> Any:
    """Without logical types: their values are those of the types below in JSON."""
    if isinstance(schema, dict):
        return {
            name: _plain(value) if name in ("type", "items", "values", "fields") else value
            for name, value in schema.items()
            if name != "logicalType"
        }
    return [_plain(each) for each in schema] if isinstance(schema, list) else schema
