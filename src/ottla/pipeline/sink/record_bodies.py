"""Keys, values and headers by the column to the records of many batches, with no loop over rows.

A record is a few numbers before and between the bytes that are there already. The numbers of all
records are written at once (varints.py), and Arrow puts numbers and bytes together row by row: the
buffer of the column that comes out is the bodies of the batches, one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ottla.pipeline.sink.errors import RowError
from ottla.pipeline.sink.varints import join_varints, varint_sizes
from ottla.wire.varint import encode_varint

Int64s: TypeAlias = npt.NDArray[np.int64]

# Size, attributes, timestamp, offset, the lengths of key and value and the count of the headers.
RECORD_OVERHEAD_BYTES_MAX: Final = 5 + 1 + 1 + 5 + 5 + 5 + 5
_NULL: Final = -1
_ATTRIBUTES: Final = 0
_TIMESTAMP_DELTA: Final = 0


class Payloads(NamedTuple):
    """What records carry: `binary` columns of the same length. A record's headers are in one piece,
    encoded, without their count."""

    keys: pa.Array
    values: pa.Array
    headers: pa.Array | None
    header_counts: Int64s | None

    def take(self, rows: Int64s) -> Payloads:
        if self.headers is None or self.header_counts is None:
            return Payloads(self.keys.take(rows), self.values.take(rows), None, None)
        return Payloads(
            self.keys.take(rows),
            self.values.take(rows),
            self.headers.take(rows),
            self.header_counts[rows],
        )

    def sizes_max(self) -> Int64s:
        """No record is larger, whichever offset it gets."""
        sizes: Int64s = _lengths(self.keys).clip(min=0) + _lengths(self.values).clip(min=0)
        if self.headers is not None:
            sizes += _lengths(self.headers)
        return sizes + RECORD_OVERHEAD_BYTES_MAX


class Bodies(NamedTuple):
    """Records in order, each from its offset in the data to the next one's."""

    offsets: npt.NDArray[np.int32]
    data: memoryview

    def between(self, first: int, last: int) -> memoryview:
        """The records from `first` up to `last`, without that."""
        return self.data[self.offsets[first] : self.offsets[last]]


def encode_bodies(payloads: Payloads, offset_deltas: Int64s) -> Bodies:
    """The records, each with its offset in its batch. All have the timestamp of their batch."""
    key_lengths, value_lengths = _lengths(payloads.keys), _lengths(payloads.values)
    sizes = 2 + varint_sizes(offset_deltas)
    sizes += varint_sizes(key_lengths) + key_lengths.clip(min=0)
    sizes += varint_sizes(value_lengths) + value_lengths.clip(min=0)
    if payloads.headers is None or payloads.header_counts is None:
        sizes += 1
        last = [pa.scalar(b"\x00", pa.binary())]
    else:
        sizes += varint_sizes(payloads.header_counts) + _lengths(payloads.headers)
        last = [join_varints(payloads.header_counts), payloads.headers]
    records = _join(
        join_varints(sizes, _ATTRIBUTES, _TIMESTAMP_DELTA),
        join_varints(offset_deltas, key_lengths),
        payloads.keys,
        join_varints(value_lengths),
        payloads.values,
        *last,
    )
    return _bodies(records)


def encode_headers(headers: pa.Array) -> tuple[pa.Array, Int64s]:
    """A `list<struct<key: string, value: binary>>` column as one piece of bytes for each row, and
    how many headers are in it. No list counts as an empty one. Raises RowError for a header without
    a key."""
    counts = pc.fill_null(pc.list_value_length(headers), 0).to_numpy().astype(np.int64)
    # Flattened, what lies under a null is gone.
    pairs = headers.flatten()
    keys = pairs.field("key").cast(pa.binary())
    values = pairs.field("value")
    if pairs.null_count or keys.null_count:
        raise RowError("a row has a header without a key; Kafka has no such headers")
    encoded = _bodies(
        _join(join_varints(_lengths(keys)), keys, join_varints(_lengths(values)), values)
    )
    ends = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ends[1:])
    offsets = encoded.offsets[ends]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(encoded.data)]
    return pa.Array.from_buffers(pa.binary(), len(counts), buffers), counts


def append_headers(payloads: Payloads, headers: Mapping[str, bytes]) -> Payloads:
    """The same payloads with some more headers, the same for all."""
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


def _bodies(records: pa.Array) -> Bodies:
    assert records.offset == 0
    _, offsets, data = records.buffers()
    return Bodies(
        np.frombuffer(offsets, np.int32, len(records) + 1),
        memoryview(b"") if data is None else memoryview(data),
    )


def _lengths(column: pa.Array) -> Int64s:
    """-1 for a null, as it is written."""
    lengths: Int64s = pc.fill_null(pc.binary_length(column), _NULL).to_numpy(zero_copy_only=False)
    return lengths.astype(np.int64)
