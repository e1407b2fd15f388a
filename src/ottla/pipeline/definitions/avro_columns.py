"""Decodes and encodes columns of Avro records in Spark's Python workers.

Separate from `avro.py`, so that a definition can be imported without pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any

# Spark evaluates the annotations of functions, so this is imported at run time.
import pyarrow as pa

from ottla.pipeline.definitions.errors import UnwritableRowError

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructType

    from ottla.pipeline.definitions.avro_schema import Schema


def by_column(
    function: Callable[[pa.Array], pa.Array], kind: DataType
) -> Callable[[Column], Column]:
    from pyspark.sql.pandas.functions import arrow_udf

    # arrow_udf infers the kind of function from its annotations; its overloads do not allow that.
    found: Callable[[Column], Column] = arrow_udf(function, kind)  # type: ignore[call-overload]
    return found


def decoding(record: Schema, kind: StructType) -> Callable[[pa.Array], pa.Array]:
    """A function from values to `fields` and `reason`, of which one is null."""

    def decode(values: pa.Array) -> pa.Array:
        from pyspark.sql.pandas.types import to_arrow_type

        decoded = [read_record(value.as_py(), record) for value in values]
        columns = [
            pa.array(column, to_arrow_type(field.dataType, timezone="UTC"))
            for column, field in zip(zip(*decoded, strict=True), kind, strict=True)
        ]
        return pa.StructArray.from_arrays(columns, [field.name for field in kind])

    return decode


def read_record(value: bytes | None, record: Schema) -> tuple[dict[str, Any] | None, str | None]:
    """The record's fields, or the reason why it cannot be decoded."""
    from fastavro import schemaless_reader

    if value is None:
        return None, "is null"
    stream = BytesIO(value)
    try:
        fields: Any = schemaless_reader(stream, record, None)
    # fastavro has no exception of its own for invalid bytes: it fails in many ways.
    except Exception as error:
        reason = str(error) or type(error).__name__
        return None, f"is not an Avro record {record['name']}: {reason}"
    if left := len(value) - stream.tell():
        return None, f"is not an Avro record {record['name']}: {left} bytes are left"
    return fields, None


def encoding(record: Schema) -> Callable[[pa.Array], pa.Array]:
    def encode(rows: pa.Array) -> pa.Array:
        plain = rows.to_pylist(maps_as_pydicts="strict")
        return pa.array([write_record(row, record) for row in plain], pa.binary())

    return encode


def write_record(row: dict[str, Any], record: Schema) -> bytes:
    """Raises UnwritableRowError."""
    from fastavro import schemaless_writer

    stream = BytesIO()
    try:
        schemaless_writer(stream, record, row)
    except Exception as error:
        raise UnwritableRowError(
            f"a row does not fit the Avro record {record['name']}: {error}; it is {row}"
        ) from error
    return stream.getvalue()
