"""Flat Avro records to Arrow columns, by compiled loops.

A writer's and a reader's schema are resolved by Avro's rules where these are simple: fields by
name, numbers that become wider, defaults for fields that the writer does not have. For everything
else `resolve` returns None, and fastavro decodes the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from ottla.pipeline.definitions import avro_loops as loops
from ottla.pipeline.definitions.avro_schema import Schema
from ottla.wire.records.compiled import readable

_KINDS: Final = {
    "long": loops.LONG,
    "int": loops.INT,
    "boolean": loops.BOOLEAN,
    "float": loops.FLOAT,
    "double": loops.DOUBLE,
    "bytes": loops.BYTES,
    "string": loops.BYTES,
    "enum": loops.ENUM,
    "fixed": loops.FIXED,
}
_WIDER: Final = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
}
_LOGICAL: Final = (
    None,
    "date",
    "timestamp-millis",
    "timestamp-micros",
    "local-timestamp-millis",
    "local-timestamp-micros",
)


@dataclass(frozen=True, slots=True)
class FlatField:
    name: str
    type: str
    logical: str | None
    null_branch: int
    size: int
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlatReader:
    """`sources` are the writer's fields in the order of the reader's; None where it has none, and
    the default is the value."""

    fields: tuple[FlatField, ...]
    names: tuple[str, ...]
    sources: tuple[int | None, ...]
    defaults: tuple[Any, ...]
    types: tuple[pa.DataType, ...]

    def read(self, values: pa.Array, prefix: int) -> tuple[list[pa.Array], np.ndarray[Any, Any]]:
        """The columns, and the errors of `avro_loops.py` by row. Values must not be null. Raises
        pa.ArrowInvalid for strings that are not UTF-8."""
        values = values.cast(pa.binary())
        rows = len(values)
        _, offsets_buffer, data_buffer = values.buffers()
        offsets = np.frombuffer(offsets_buffer, np.int32)[values.offset : values.offset + rows + 1]
        data = np.frombuffer(data_buffer or b"", np.uint8)
        fields = self.fields
        numbers = np.zeros(len(fields) * rows, np.int64)
        starts = np.zeros(len(fields) * rows, np.int64)
        nulls = np.zeros(len(fields) * rows, np.uint8)
        errors = np.zeros(rows, np.int32)
        loops.read_flat(
            readable(data),
            readable(offsets),
            prefix,
            _ints([_KINDS[each.type] for each in fields]),
            _ints([each.null_branch for each in fields]),
            _ints([each.size for each in fields]),
            numbers,
            starts,
            nulls,
            errors,
        )
        columns = []
        for source, default, kind in zip(self.sources, self.defaults, self.types, strict=True):
            if source is None:
                columns.append(pa.repeat(pa.scalar(default, kind), rows))
                continue
            place = slice(source * rows, (source + 1) * rows)
            is_null = (nulls[place] | (errors != 0)).astype(np.bool_)
            column = _column(fields[source], data, numbers[place], starts[place], is_null)
            columns.append(column if column.type == kind else column.cast(kind))
        return columns, errors


def resolve(writer: Schema, reader: Schema, types: Mapping[str, pa.DataType]) -> FlatReader | None:
    """`types` are those of the reader's columns."""
    fields = [_flat(each) for each in writer["fields"]]
    wanted = [_flat(each) for each in reader["fields"]]
    if None in fields or None in wanted:
        return None
    by_name = {each.name: index for index, each in enumerate(fields) if each is not None}
    sources: list[int | None] = []
    defaults: list[Any] = []
    for own, given in zip(wanted, reader["fields"], strict=True):
        assert own is not None
        source = by_name.get(own.name)
        if source is None and ("default" not in given or given.get("aliases")):
            return None
        if source is None and (given["default"] is not None and own.type in ("bytes", "fixed")):
            return None
        if source is not None and not _is_readable(fields[source], own):
            return None
        sources.append(source)
        defaults.append(given.get("default"))
    return FlatReader(
        tuple(each for each in fields if each is not None),
        tuple(own.name for own in wanted if own is not None),
        tuple(sources),
        tuple(defaults),
        tuple(types[own.name] for own in wanted if own is not None),
    )


def _is_readable(written: FlatField | None, own: FlatField) -> bool:
    assert written is not None
    if written.null_branch >= 0 and own.null_branch < 0:
        return False
    if written.logical != own.logical:
        return False
    if written.type == own.type:
        return written.symbols == own.symbols and written.size == own.size
    return own.logical is None and own.type in _WIDER.get(written.type, ())


def _flat(field: Schema) -> FlatField | None:
    """None for a field that is not flat, or has no column in Spark."""
    kind, null_branch = field["type"], -1
    if isinstance(kind, list):
        if len(kind) != 2 or "null" not in kind:
            return None
        null_branch = kind.index("null")
        kind = kind[1 - null_branch]
    schema: Schema = kind if isinstance(kind, dict) else {"type": kind}
    if schema["type"] not in _KINDS or schema.get("logicalType") not in _LOGICAL:
        return None
    symbols = tuple(schema.get("symbols", ()))
    size = len(symbols) or int(schema.get("size", 0))
    return FlatField(
        field["name"], schema["type"], schema.get("logicalType"), null_branch, size, symbols
    )


def _column(
    field: FlatField,
    data: np.ndarray[Any, Any],
    numbers: np.ndarray[Any, Any],
    starts: np.ndarray[Any, Any],
    is_null: np.ndarray[Any, Any],
) -> pa.Array:
    match field.type:
        case "boolean":
            return pa.array(numbers.astype(np.bool_), mask=is_null)
        case "float":
            return pa.array(numbers.astype(np.uint32).view(np.float32), mask=is_null)
        case "double":
            return pa.array(numbers.view(np.float64), mask=is_null)
        case "int" if field.logical == "date":
            return pa.array(numbers.astype(np.int32), pa.date32(), mask=is_null)
        case "int":
            return pa.array(numbers.astype(np.int32), mask=is_null)
        case "long" if field.logical is not None:
            unit = 1_000 if field.logical.endswith("millis") else 1
            zone = None if field.logical.startswith("local") else "UTC"
            return pa.array(numbers * unit, pa.int64(), mask=is_null).cast(pa.timestamp("us", zone))
        case "long":
            return pa.array(numbers, mask=is_null)
        case "enum":
            indexes = pa.array(numbers.astype(np.int32), mask=is_null)
            return pa.DictionaryArray.from_arrays(indexes, list(field.symbols)).cast(pa.string())
    return _bytes(data, numbers, starts, is_null, is_text=field.type == "string")


def _bytes(
    data: np.ndarray[Any, Any],
    lengths: np.ndarray[Any, Any],
    starts: np.ndarray[Any, Any],
    is_null: np.ndarray[Any, Any],
    *,
    is_text: bool,
) -> pa.Array:
    rows = len(lengths)
    ends = np.zeros(rows + 1, np.int32)
    np.cumsum(np.where(is_null, 0, lengths), out=ends[1:])
    target = np.empty(int(ends[-1]), np.uint8)
    loops.gather(readable(data), starts, ends, target)
    validity = None
    if is_null.any():
        validity = pa.py_buffer(np.packbits(~is_null, bitorder="little").tobytes())
    found = pa.Array.from_buffers(
        pa.binary(), rows, [validity, pa.py_buffer(ends), pa.py_buffer(target)]
    )
    # The cast checks that it is UTF-8.
    return found.cast(pa.string()) if is_text else found


def _ints(values: list[int]) -> np.ndarray[Any, Any]:
    return readable(np.array(values, np.int32))
