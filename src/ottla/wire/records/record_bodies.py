"""Encodes columns of keys, values and headers to the records of many batches.

A record is the bytes of these columns with a few varints in between; a compiled loop writes them
(row_loops.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ottla.wire.records.row_loops import NO_COLUMN, to_column, write_pairs, write_records
from ottla.wire.varint import encode_varint

Int64s: TypeAlias = npt.NDArray[np.int64]

# Size, attributes, timestamp, offset, the lengths of key and value and the count of the headers.
RECORD_OVERHEAD_BYTES_MAX: Final = 5 + 1 + 1 + 5 + 5 + 5 + 5
TIMESTAMP_BYTES_MAX: Final = 10
_NULL: Final = -1
_PAIR_OVERHEAD_BYTES_MAX: Final = 5 + 5
_NOTHING: Final = np.zeros(0, np.int64)


class Payloads(NamedTuple):
    """Columns of the same length, `binary` but for the last two. `headers` has each record's
    encoded headers, without their count."""

    keys: pa.Array
    values: pa.Array
    headers: pa.Array | None
    header_counts: Int64s | None
    # Milliseconds since 1970; without them, records have the timestamp of their batch.
    timestamps: Int64s | None = None

    def take(self, rows: Int64s) -> Payloads:
        return Payloads(
            self.keys.take(rows),
            self.values.take(rows),
            self.headers.take(rows) if self.headers is not None else None,
            self.header_counts[rows] if self.header_counts is not None else None,
            self.timestamps[rows] if self.timestamps is not None else None,
        )

    def sizes_max(self) -> Int64s:
        """An upper bound of each encoded record's size, at any offset."""
        sizes: Int64s = _lengths(self.keys).clip(min=0) + _lengths(self.values).clip(min=0)
        if self.headers is not None:
            sizes += _lengths(self.headers)
        if self.timestamps is not None:
            sizes += TIMESTAMP_BYTES_MAX - 1
        return sizes + RECORD_OVERHEAD_BYTES_MAX


def encode_bodies(
    payloads: Payloads, rows: Int64s, edges: Int64s, *, bytes_max: int
) -> Iterator[memoryview]:
    """Yields the encoded records of each batch: the rows from one edge up to the next. Without
    timestamps, all records have that of their batch."""
    ends = np.empty(len(edges) - 1, np.int64)
    target = np.empty(bytes_max, np.uint8)
    headers, counts = NO_COLUMN, _NOTHING
    if payloads.headers is not None and payloads.header_counts is not None:
        headers, counts = to_column(payloads.headers), payloads.header_counts
    keys, values = to_column(payloads.keys), to_column(payloads.values)
    times = _NOTHING if payloads.timestamps is None else payloads.timestamps
    write_records(rows, edges, keys, values, headers, counts, times, target, ends)
    for start, end in itertools.pairwise([0, *ends.tolist()]):
        yield target.data[start:end]


def encode_headers(headers: pa.Array) -> tuple[pa.Array, Int64s]:
    """Encodes a `list<struct<key: string, value: binary>>` column to bytes, and counts the headers
    of each row. A null counts as an empty list. Raises ValueError for a header without a key."""
    counts = pc.fill_null(pc.list_value_length(headers), 0).to_numpy().astype(np.int64)
    # Flattening drops the elements under a null list.
    pairs = headers.flatten()
    keys = pairs.field("key").cast(pa.binary())
    values = pairs.field("value")
    if pairs.null_count or keys.null_count:
        raise ValueError("a row has a header without a key; Kafka has no such headers")
    ends = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ends[1:])
    offsets = np.zeros(len(pairs) + 1, np.int32)
    target = np.empty(keys.nbytes + values.nbytes + len(pairs) * _PAIR_OVERHEAD_BYTES_MAX, np.uint8)
    write_pairs(to_column(keys), to_column(values), target, offsets)
    buffers = [None, pa.py_buffer(offsets[ends]), pa.py_buffer(target)]
    return pa.Array.from_buffers(pa.binary(), len(counts), buffers), counts


def append_headers(payloads: Payloads, headers: Mapping[str, bytes]) -> Payloads:
    """The same payloads with these headers appended to each record."""
    count = len(payloads.values)
    more = b"".join(
        encode_varint(len(part)) + part
        for name, value in headers.items()
        for part in (name.encode(), value)
    )
    encoded = pa.repeat(pa.scalar(more, pa.binary()), count)
    counts = np.full(count, len(headers), np.int64)
    if payloads.headers is not None and payloads.header_counts is not None:
        encoded = _join(payloads.headers, encoded)
        counts += payloads.header_counts
    return payloads._replace(headers=encoded, header_counts=counts)


def _join(*columns: pa.Array | pa.Scalar) -> pa.Array:
    nothing = pa.scalar(b"", pa.binary())
    return pc.binary_join_element_wise(
        *columns, nothing, null_handling="replace", null_replacement=""
    )


def _lengths(column: pa.Array) -> Int64s:
    """The length of each value; -1 for a null, as in the record format."""
    lengths: Int64s = pc.fill_null(pc.binary_length(column), _NULL).to_numpy(zero_copy_only=False)
    return lengths.astype(np.int64)
