"""Record batches to Arrow, in the columns of Spark's Kafka source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from ottla.model import TopicPartition
from ottla.pipeline.source.ranges import OffsetRange
from ottla.pipeline.source.record_batches import Fetched
from ottla.wire.records.columns import BinaryColumn, HeadersColumn, RecordColumns, decode_columns

# What Spark's workers hold at once; a fetch may bring more.
_ROWS_MAX: Final = 65_536
_MICROSECONDS: Final = 1_000

_HEADER_TYPE: Final = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_FIELDS: Final = (
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
    pa.field("topic", pa.string()),
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("timestamp", pa.timestamp("us", "UTC")),
    pa.field("timestampType", pa.int32()),
)
_HEADERS_FIELD: Final = pa.field("headers", pa.list_(_HEADER_TYPE))


def to_arrow(
    fetched: Fetched, wanted: OffsetRange, *, include_headers: bool
) -> Iterator[pa.RecordBatch]:
    """The rows that lie in the range, some at a time."""
    if not fetched.batches:
        return
    columns = decode_columns(fetched.batches)
    counts = [header.record_count for header in fetched.headers]
    types = np.array([header.timestamp_type for header in fetched.headers], np.int32)
    rows = _rows(columns, np.repeat(types, counts), wanted.partition, include_headers)
    first, last = np.searchsorted(columns.offsets, (fetched.start, wanted.end))
    rows = rows.slice(int(first), int(last - first))
    for start in range(0, rows.num_rows, _ROWS_MAX):
        yield rows.slice(start, _ROWS_MAX)


def _rows(
    columns: RecordColumns,
    timestamp_types: np.ndarray[tuple[int], np.dtype[np.int32]],
    partition: TopicPartition,
    include_headers: bool,
) -> pa.RecordBatch:
    count = len(columns)
    timestamps = pa.array(columns.timestamps * _MICROSECONDS)
    arrays = [
        _binary(columns.keys, pa.binary()),
        _binary(columns.values, pa.binary()),
        pa.repeat(pa.scalar(partition.topic), count),
        pa.repeat(pa.scalar(partition.partition, pa.int32()), count),
        pa.array(columns.offsets),
        timestamps.cast(pa.timestamp("us", "UTC")),
        pa.array(timestamp_types),
    ]
    fields = list(_FIELDS)
    if include_headers:
        arrays.append(_headers(columns.headers))
        fields.append(_HEADERS_FIELD)
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _binary(column: BinaryColumn, kind: pa.DataType) -> pa.Array:
    validity = None if column.validity is None else pa.py_buffer(column.validity)
    buffers = [validity, pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
    return pa.Array.from_buffers(kind, len(column.offsets) - 1, buffers)


def _headers(column: HeadersColumn) -> pa.Array:
    """Null where there are none, as Spark's own source has it."""
    pairs = pa.StructArray.from_arrays(
        [_binary(column.keys, pa.string()), _binary(column.values, pa.binary())],
        fields=list(_HEADER_TYPE),
    )
    is_there = np.packbits(np.diff(column.offsets) > 0, bitorder="little")
    buffers = [pa.py_buffer(is_there), pa.py_buffer(column.offsets)]
    return pa.Array.from_buffers(
        _HEADERS_FIELD.type, len(column.offsets) - 1, buffers, children=[pairs]
    )
