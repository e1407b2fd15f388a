"""Fetched batches as an Arrow record batch, without an object per record.

Imported only when columns are used: it needs numpy, pyarrow and Numba.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from ottla.client.consuming.decoding.fetched_batches import DataBatch
from ottla.wire.errors import ProtocolError
from ottla.wire.records.columns import (
    BinaryColumn,
    HeadersColumn,
    RecordColumns,
    decode_columns,
)

_HEADER: Final = pa.struct(
    [pa.field("key", pa.string(), nullable=False), pa.field("value", pa.binary())]
)
SCHEMA: Final = pa.schema(
    [
        pa.field("topic", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", pa.timestamp("ms", "UTC"), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", pa.list_(_HEADER), nullable=False),
    ]
)


def decode_arrow(
    batches: Sequence[DataBatch], *, topic: str, partition: int, start: int
) -> pa.RecordBatch:
    """The records from the offset `start` on. Raises ProtocolError."""
    records = decode_columns([each.data for each in batches])
    if np.any(records.offsets[1:] <= records.offsets[:-1]):
        raise ProtocolError("the offsets of its records do not ascend")
    count = len(records)
    arrays = [
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([topic])),
        pa.array(np.full(count, partition, np.int32)),
        pa.array(records.offsets),
        pa.Array.from_buffers(
            pa.timestamp("ms", "UTC"), count, [None, pa.py_buffer(records.timestamps)]
        ),
        _binary(records.keys, pa.binary()),
        _binary(records.values, pa.binary()),
        _headers(records.headers, records),
    ]
    rows = pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
    return rows.slice(int(np.searchsorted(records.offsets, start)))


def _binary(column: BinaryColumn, kind: pa.DataType) -> pa.Array:
    validity = None if column.validity is None else pa.py_buffer(column.validity)
    buffers = [validity, pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
    return pa.Array.from_buffers(kind, len(column.offsets) - 1, buffers)


def _headers(column: HeadersColumn, records: RecordColumns) -> pa.Array:
    pairs = pa.StructArray.from_arrays(
        [_binary(column.keys, pa.string()), _binary(column.values, pa.binary())],
        fields=list(_HEADER),
    )
    buffers = [None, pa.py_buffer(column.offsets)]
    return pa.Array.from_buffers(pa.list_(_HEADER), len(records), buffers, children=[pairs])
