"""Compiled loops over the rows of columns: they hash keys and encode records."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ottla.wire.records.compiled import (
    Bytes,
    Int32s,
    Int64s,
    copy_bytes,
    int64,
    loop,
    readable,
    step,
    uint32,
    uint64,
)
from ottla.wire.records.murmur2 import SEED, M, R

_NULL: Final = -1
_WORD_BYTES: Final = 4


class RowColumn(NamedTuple):
    """An Arrow `binary` column as arrays that compiled loops can read."""

    offsets: Int32s
    data: Bytes
    is_null: npt.NDArray[np.bool_]


def to_column(array: pa.Array) -> RowColumn:
    _, offsets, data = array.buffers()
    start, count = array.offset, len(array)
    ends = np.frombuffer(offsets, np.int32)[start : start + count + 1] if count else _NO_OFFSETS
    return RowColumn(
        readable(ends),
        readable(np.frombuffer(data or b"", np.uint8)),
        readable(array.is_null().to_numpy(zero_copy_only=False)),
    )


_NO_OFFSETS: Final = np.zeros(1, np.int32)
NO_COLUMN: Final = to_column(pa.array([], pa.binary()))


@loop
def hash_keys(keys: RowColumn, hashes: npt.NDArray[np.uint32]) -> None:
    """Writes the `murmur2` hash of each key to `hashes`. The hash of a null is meaningless."""
    offsets, data, _ = keys
    for row in range(len(hashes)):
        at, end = int64(offsets[row]), int64(offsets[row + 1])
        found = uint32(SEED) ^ uint32(end - at)
        while at + _WORD_BYTES <= end:
            word = uint32(data[at]) | uint32(data[at + 1]) << uint32(8)
            word |= uint32(data[at + 2]) << uint32(16)
            word |= uint32(data[at + 3]) << uint32(24)
            word = uint32(word * uint32(M))
            word = uint32((word ^ word >> uint32(R)) * uint32(M))
            found = uint32(found * uint32(M)) ^ word
            at += _WORD_BYTES
        if at < end:
            for index in range(end - at):
                found ^= uint32(data[at + index]) << uint32(8 * index)
            found = uint32(found * uint32(M))
        found = uint32((found ^ found >> uint32(13)) * uint32(M))
        hashes[row] = found ^ found >> uint32(15)


@step
def _size_of(number: int) -> int:
    """The size in bytes of a 32-bit number as a zigzag varint."""
    zigzag = uint32(number << 1 ^ number >> 63)
    size = 1
    while zigzag >= 0x80:
        zigzag >>= uint32(7)
        size += 1
    return size


@step
def _write_number(target: Bytes, at: int, number: int) -> int:
    zigzag = uint32(number << 1 ^ number >> 63)
    while zigzag >= 0x80:
        target[at] = zigzag & 0x7F | 0x80
        zigzag >>= uint32(7)
        at += 1
    target[at] = zigzag
    return at + 1


@step
def _size_of_long(number: int) -> int:
    """The size in bytes of a 64-bit number as a zigzag varint."""
    zigzag = uint64(number << 1 ^ number >> 63)
    size = 1
    while zigzag >= uint64(0x80):
        zigzag >>= uint64(7)
        size += 1
    return size


@step
def _write_long(target: Bytes, at: int, number: int) -> int:
    zigzag = uint64(number << 1 ^ number >> 63)
    while zigzag >= uint64(0x80):
        target[at] = zigzag & uint64(0x7F) | uint64(0x80)
        zigzag >>= uint64(7)
        at += 1
    target[at] = zigzag
    return at + 1


@loop
def write_records(
    rows: Int64s,
    edges: Int64s,
    keys: RowColumn,
    values: RowColumn,
    headers: RowColumn,
    header_counts: Int64s,
    timestamps: Int64s,
    target: Bytes,
    ends: Int64s,
) -> None:
    """Encodes the records of batches. A batch has the rows from its edge up to the next.

    The end of each batch's records is written to `ends`. Without `header_counts` no row has
    headers; without `timestamps` all have that of their batch, otherwise the batch has that of its
    first row.
    """
    key_offsets, key_data, key_nulls = keys
    value_offsets, value_data, value_nulls = values
    header_offsets, header_data, _ = headers
    at = int64(0)
    for batch in range(len(ends)):
        for index in range(edges[batch], edges[batch + 1]):
            row = rows[index]
            delta = index - edges[batch]
            key_start, value_start = int64(key_offsets[row]), int64(value_offsets[row])
            key_length, value_length = (
                key_offsets[row + 1] - key_start,
                value_offsets[row + 1] - value_start,
            )
            header_count = header_start = header_length = int64(0)
            if len(header_counts):
                header_count, header_start = header_counts[row], int64(header_offsets[row])
                header_length = header_offsets[row + 1] - header_start
            size = key_length + value_length + header_length
            if key_nulls[row]:
                key_length = int64(_NULL)
            if value_nulls[row]:
                value_length = int64(_NULL)
            age = int64(0)
            if len(timestamps):
                age = timestamps[row] - timestamps[rows[edges[batch]]]
            size += (
                1
                + _size_of_long(age)
                + _size_of(delta)
                + _size_of(key_length)
                + _size_of(value_length)
            )
            at = _write_number(target, at, size + _size_of(header_count))
            # Attributes.
            target[at] = 0
            at = _write_long(target, at + 1, age)
            at = _write_number(target, at, delta)
            at = _write_number(target, at, key_length)
            if key_length > 0:
                copy_bytes(key_data, key_start, target, at, key_length)
                at += key_length
            at = _write_number(target, at, value_length)
            if value_length > 0:
                copy_bytes(value_data, value_start, target, at, value_length)
                at += value_length
            at = _write_number(target, at, header_count)
            copy_bytes(header_data, header_start, target, at, header_length)
            at += header_length
        ends[batch] = at


@loop
def write_pairs(keys: RowColumn, values: RowColumn, target: Bytes, offsets: Int32s) -> None:
    """Encodes headers: key and value, each after its length. Pair `i` is in `target` from
    `offsets[i]` up to `offsets[i + 1]`."""
    key_offsets, key_data, _ = keys
    value_offsets, value_data, value_nulls = values
    at = int64(0)
    for pair in range(len(offsets) - 1):
        start = int64(key_offsets[pair])
        length = key_offsets[pair + 1] - start
        at = _write_number(target, at, length)
        copy_bytes(key_data, start, target, at, length)
        at += length
        start = int64(value_offsets[pair])
        length = value_offsets[pair + 1] - start
        if value_nulls[pair]:
            at = _write_number(target, at, int64(_NULL))
        else:
            at = _write_number(target, at, length)
            copy_bytes(value_data, start, target, at, length)
            at += length
        offsets[pair + 1] = at
