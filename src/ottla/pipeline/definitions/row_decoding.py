"""Decodes columns value by value, for codecs without loops of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from ottla.client.errors import SerializationError

# A zero, and the id of the schema.
HEADER_BYTES: Final = 5


def by_row(
    values: pa.Array, kind: pa.DataType, decode: Callable[[bytes], dict[str, Any]]
) -> tuple[pa.Array, list[str | None]]:
    """For codecs that decode value by value. `decode` raises SerializationError."""
    rows: list[dict[str, Any] | None] = []
    reasons: list[str | None] = []
    for value in values:
        try:
            rows.append(decode(value.as_py()[HEADER_BYTES:]))
            reasons.append(None)
        except SerializationError as error:
            rows.append(None)
            reasons.append(str(error))
    try:
        return pa.array(rows, kind), reasons
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return _one_by_one(rows, reasons, kind)


def _one_by_one(
    rows: list[dict[str, Any] | None], reasons: list[str | None], kind: pa.DataType
) -> tuple[pa.Array, list[str | None]]:
    """For rows of which some have a value that its column cannot take."""
    found = []
    for index, row in enumerate(rows):
        try:
            found.append(pa.array([row], kind))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            found.append(pa.nulls(1, kind))
            reasons[index] = f"has a field {_failing(row or {}, kind)} that does not fit its column"
    return pa.concat_arrays(found), reasons


def _failing(row: dict[str, Any], kind: pa.DataType) -> str:
    for field in kind:
        try:
            pa.array([row.get(field.name)], field.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return str(field.name)
    return "?"
