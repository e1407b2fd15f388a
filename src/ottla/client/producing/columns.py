"""Writes tables without an object per record: columns become batches in compiled loops.

Needs the extra `columns`: pyarrow, numpy and Numba.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ottla.client.errors import RecordTooLargeError, SerializationError
from ottla.client.producing.column_partitioner import ColumnPartitioner
from ottla.client.producing.topic_queues import PartitionChoiceError
from ottla.model import ErrorCode
from ottla.wire.records.compiled import Int64s
from ottla.wire.records.record_bodies import Payloads, encode_headers
from ottla.wire.records.row_batches import UnsealedBatch, cut_batches

# Rows that are encoded at a time: enough for compiled loops, and little memory and time.
_SLICE_BYTES: Final = 4 << 20
_SLICE_ROWS_MAX: Final = 1 << 17
_HEADERS: Final = pa.list_(
    pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
)


class ColumnNames(NamedTuple):
    """Which columns of a table are what. None: there is none."""

    value: str | None = "value"
    key: str | None = None
    partition: str | None = None
    timestamp: str | None = None
    headers: str | None = None


class ColumnLimits(NamedTuple):
    """Sizes in bytes."""

    batch_max: int
    record_max: int


class TableRows:
    """The rows of a table for one topic."""

    def __init__(self, table: Any, names: ColumnNames) -> None:
        """Raises SerializationError for columns that cannot be written."""
        self._table = _chosen(to_table(table), names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def batches(
        self, partitioner: ColumnPartitioner, limits: ColumnLimits, *, topic: str, count: int
    ) -> Iterator[UnsealedBatch]:
        """In the order of the rows per partition. Raises RecordTooLargeError and
        PartitionChoiceError before the batches of the slice that has such a row."""
        for rows in self._slices():
            payloads = _payloads(rows)
            sizes = payloads.sizes_max()
            if (largest := int(sizes.max(initial=0))) > limits.record_max:
                raise RecordTooLargeError(
                    ErrorCode.MESSAGE_TOO_LARGE,
                    f"a row for {topic} takes {largest} bytes, more than {limits.record_max}",
                )
            given = rows.column("partition") if "partition" in rows.schema.names else None
            targets = partitioner.partitions(payloads.keys, given, sizes, count=count)
            _check_targets(targets, topic, count)
            yield from cut_batches(payloads, targets, sizes, batch_bytes_max=limits.batch_max)

    def _slices(self) -> Iterator[pa.RecordBatch]:
        if not len(self):
            return
        row_bytes = max(self._table.nbytes // len(self), 1)
        rows_max = max(min(_SLICE_BYTES // row_bytes, _SLICE_ROWS_MAX), 1)
        for batch in self._table.to_batches(max_chunksize=rows_max):
            if batch.num_rows:
                yield batch


def to_table(table: Any) -> pa.Table:
    """From pyarrow, pandas, Polars, DuckDB, or whatever else exports Arrow's C streams."""
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if isinstance(table, dict):
        return pa.table(table)
    if type(table).__module__.partition(".")[0] == "pandas":
        return pa.Table.from_pandas(table, preserve_index=False)
    if hasattr(table, "__arrow_c_stream__"):
        return pa.table(table)
    raise SerializationError(
        f"a {type(table).__name__} has no columns: give a pyarrow.Table or RecordBatch, a pandas "
        "or Polars DataFrame, or a dict of arrays"
    )


def _chosen(table: pa.Table, names: ColumnNames) -> pa.Table:
    columns = {}
    for kind, name in names._asdict().items():
        if name is None:
            continue
        if name not in table.column_names:
            raise SerializationError(
                f"the table has no column {name} for the {kind}; it has "
                f"{', '.join(table.column_names)}"
            )
        columns[kind] = _cast(table.column(name), kind, name)
    if not columns.keys() & {"key", "value"}:
        raise SerializationError("name a column for the value, the key or both")
    return pa.table(columns)


def _cast(column: pa.ChunkedArray, kind: str, name: str) -> pa.ChunkedArray:
    wanted = {
        "key": pa.binary(),
        "value": pa.binary(),
        "partition": pa.int32(),
        "timestamp": pa.int64(),
        "headers": _HEADERS,
    }[kind]
    if column.type == wanted:
        return column
    is_text = kind in ("key", "value")
    plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if is_text and not _is_text(plain) and not pa.types.is_null(plain):
        raise SerializationError(
            f"the column {name} for the {kind} is {column.type}; it must be binary or string: cast "
            "it, or encode it, for example as JSON"
        )
    try:
        if kind == "timestamp" and pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ms", column.type.tz), safe=False)
        return column.cast(wanted)
    except pa.ArrowException as error:
        raise SerializationError(f"the column {name} for the {kind}: {error}") from None


def _is_text(kind: pa.DataType) -> bool:
    return any(
        check(kind)
        for check in (
            pa.types.is_binary,
            pa.types.is_string,
            pa.types.is_large_binary,
            pa.types.is_large_string,
            pa.types.is_fixed_size_binary,
            *(
                getattr(pa.types, each)
                for each in ("is_string_view", "is_binary_view")
                if hasattr(pa.types, each)
            ),
        )
    )


def _payloads(rows: pa.RecordBatch) -> Payloads:
    names = rows.schema.names

    def column(name: str) -> pa.Array:
        return rows.column(name) if name in names else pa.nulls(rows.num_rows, pa.binary())

    encoded, counts = (None, None)
    if "headers" in names:
        try:
            encoded, counts = encode_headers(rows.column("headers"))
        except ValueError as error:
            raise SerializationError(str(error)) from None
    return Payloads(column("key"), column("value"), encoded, counts, _timestamps(rows))


def _timestamps(rows: pa.RecordBatch) -> Int64s | None:
    if "timestamp" not in rows.schema.names:
        return None
    column = rows.column("timestamp")
    if column.null_count:
        raise SerializationError(
            "the column of timestamps has nulls: fill them, for example with the current time"
        )
    found: Int64s = np.ascontiguousarray(pc.fill_null(column, 0).to_numpy(), np.int64)
    return found


def _check_targets(targets: Int64s, topic: str, count: int) -> None:
    lowest, highest = int(targets.min()), int(targets.max())
    if lowest < 0 or highest >= count:
        wrong = lowest if lowest < 0 else highest
        raise PartitionChoiceError(f"{topic} has no partition {wrong}; it has {count}")
