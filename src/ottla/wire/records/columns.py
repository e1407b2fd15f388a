"""Decodes batches into columns: buffers that Arrow can use without copying.

Creating an object per record makes reading a log in Python slow. Here compiled loops
(column_loops.py) read the records and write directly into the columns.

The formats are those of Arrow's columnar layout: `int64`, `binary`, `list<struct<utf8, binary>>`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import DECOMPRESSED_BYTES_MAX, open_body
from ottla.wire.records.column_loops import REASONS, WELL, Binaries, read_headers, read_records
from ottla.wire.records.compiled import Bytes, Int32s, Int64s, readable
from ottla.wire.records.header import BatchHeader, TimestampType, read_header

# Arrow's `binary` has 32-bit offsets, and an invalid byte may become a replacement character of 3
# bytes.
_BODIES_BYTES_MAX = (2**31 - 1) // 3


@dataclass(frozen=True, slots=True)
class BinaryColumn:
    """Arrow's `binary`. Without a validity bitmap (lowest bit first) no value is null."""

    validity: Bytes | None
    offsets: Int32s
    data: memoryview


_NO_VALUES = BinaryColumn(None, np.zeros(1, np.int32), memoryview(b""))


@dataclass(frozen=True, slots=True)
class HeadersColumn:
    """Arrow's `list<struct<key: utf8, value: binary>>`; lists and keys are never null."""

    offsets: Int32s
    keys: BinaryColumn
    values: BinaryColumn


_NO_HEADERS = HeadersColumn(_NO_VALUES.offsets, _NO_VALUES, _NO_VALUES)


class ColumnSelection(NamedTuple):
    """The columns to copy; the others stay empty."""

    keys: bool = True
    values: bool = True
    headers: bool = True


ALL = ColumnSelection()


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """The records of some batches, in order; all requested columns have the same length."""

    offsets: Int64s
    timestamps: Int64s
    keys: BinaryColumn
    values: BinaryColumn
    headers: HeadersColumn

    def __len__(self) -> int:
        return len(self.offsets)


def decode_columns(
    batches: Iterable[Buffer],
    *,
    selection: ColumnSelection = ALL,
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX,
) -> RecordColumns:
    """Decodes complete batches, one per buffer; skips control batches.

    The limit is for the bodies of all batches together. Checksums are not verified.
    """
    headers, bodies = _read_bodies(batches, min(decompressed_bytes_max, _BODIES_BYTES_MAX))
    count = sum(header.record_count for header in headers)
    size = sum(map(len, bodies))
    offsets, timestamps = np.empty(count, np.int64), np.empty(count, np.int64)
    keys, values = (
        _make_binaries(count, size) if is_selected else _make_binaries(0, 0)
        for is_selected in (selection.keys, selection.values)
    )
    header_counts, header_starts = np.empty(count, np.int64), np.empty(count, np.int64)
    first = 0
    for header, body in zip(headers, bodies, strict=True):
        has_deltas = header.timestamp_type is not TimestampType.LOG_APPEND_TIME
        reason = read_records(
            body,
            (first, first + header.record_count),
            header.base_offset,
            header.last_offset_delta,
            header.base_timestamp if has_deltas else header.max_timestamp,
            has_deltas,
            offsets,
            timestamps,
            selection.keys,
            keys,
            selection.values,
            values,
            header_counts,
            header_starts,
        )
        if reason != WELL:
            raise ProtocolError(
                f"a record of the batch at offset {header.base_offset} {REASONS[reason]}"
            )
        first += header.record_count
    found = _NO_HEADERS
    if selection.headers:
        found = _read_headers(headers, bodies, header_counts, header_starts)
    return RecordColumns(offsets, timestamps, _finish(keys), _finish(values), found)


def _read_bodies(
    batches: Iterable[Buffer], bytes_max: int
) -> tuple[list[BatchHeader], list[Bytes]]:
    headers, bodies = [], []
    room = bytes_max
    for batch in batches:
        header = read_header(batch)
        if header.is_control:
            continue
        body = open_body(batch, 0, header, decompressed_bytes_max=room)
        room -= len(body)
        if room < 0:
            raise ProtocolError(
                f"the batches hold more than {bytes_max} bytes of records; decode fewer at a time"
            )
        headers.append(header)
        bodies.append(readable(np.frombuffer(body, np.uint8)))
    return headers, bodies


def _make_binaries(count: int, bytes_max: int) -> Binaries:
    """Uses memory from Arrow's pool; pages that are never written to are not allocated."""
    data = np.frombuffer(pa.allocate_buffer(bytes_max), np.uint8)
    return Binaries(np.zeros(count + 1, np.int32), data, np.zeros(count, np.uint8))


def _finish(column: Binaries) -> BinaryColumn:
    validity = None
    if column.is_null.any():
        validity = np.packbits(column.is_null == 0, bitorder="little")
    return BinaryColumn(validity, column.offsets, column.data.data[: column.offsets[-1]])


def _read_headers(
    headers: list[BatchHeader], bodies: list[Bytes], counts: Int64s, starts: Int64s
) -> HeadersColumn:
    offsets = _to_offsets(counts)
    if not offsets[-1]:
        return HeadersColumn(offsets, _NO_VALUES, _NO_VALUES)
    size = sum(map(len, bodies))
    keys, values = _make_binaries(offsets[-1], size), _make_binaries(offsets[-1], size)
    first = slot = 0
    for header, body in zip(headers, bodies, strict=True):
        rows = (first, first + header.record_count)
        slot = read_headers(body, rows, slot, counts, starts, keys, values)
        first += header.record_count
    return HeadersColumn(offsets, _as_utf8(_finish(keys)), _finish(values))


def _to_offsets(lengths: Int64s) -> Int32s:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _as_utf8(column: BinaryColumn) -> BinaryColumn:
    """Replaces invalid UTF-8 by replacement characters, as Kafka's clients do."""
    data = bytes(column.data)
    raw = np.frombuffer(data + b"\x00", np.uint8)
    try:
        data.decode()
        # A text must not begin in the middle of a character.
        if not np.any(raw[column.offsets] & 0xC0 == 0x80):
            return column
    except UnicodeDecodeError:
        pass
    texts = [
        data[start:end].decode("utf-8", "replace").encode()
        for start, end in itertools.pairwise(column.offsets.tolist())
    ]
    lengths = np.array([len(text) for text in texts], np.int64)
    return BinaryColumn(None, _to_offsets(lengths), memoryview(b"".join(texts)))
