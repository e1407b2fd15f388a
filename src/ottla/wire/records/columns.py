"""Records by the column: batches decoded into buffers that Arrow takes as they are.

An object per record is what makes reading a log in Python slow, so here there is none. Once it is
known where the records start (boundaries.py), every field of all records is decoded at once, field
by field, by numpy. Many small batches decode as fast as a large one if they
come in one call.

The formats are those of Arrow's columnar layout: `int64`, `binary`, `list<struct<utf8, binary>>`.
numpy and pyarrow are optional dependencies of the project, and only these two modules here need
them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import DECOMPRESSED_BYTES_MAX, open_body
from ottla.wire.records.boundaries import find_boundaries
from ottla.wire.records.header import BatchHeader, TimestampType, read_header
from ottla.wire.varint import read_varint

Int32s: TypeAlias = npt.NDArray[np.int32]
Int64s: TypeAlias = npt.NDArray[np.int64]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Bools: TypeAlias = npt.NDArray[np.bool_]

# Arrow's `binary` counts its bytes in 32 bits, and a byte may become a replacement character of 3.
_BODIES_BYTES_MAX = (2**31 - 1) // 3

# Numbers are read without a look at the end of the data: this is behind it, and ends every one.
_PADDING = bytes(1)

# Every second one of eight slices, the lowest bit first.
_EVERY_SECOND = b"\xaa"

_ONE_BYTE_VALUES = np.array([(byte >> 1) ^ -(byte & 1) for byte in range(256)], np.int64)

# Fewer records than this are not worth a round of numpy calls.
_ROUND_RECORDS_MIN = 32


@dataclass(frozen=True, slots=True)
class BinaryColumn:
    """Arrow's `binary`. Without a validity bitmap (lowest bit first) no value is null."""

    validity: Bytes | None
    offsets: Int32s
    data: memoryview


_NO_VALUES = BinaryColumn(None, np.zeros(1, np.int32), memoryview(b""))


@dataclass(frozen=True, slots=True)
class HeadersColumn:
    """Arrow's `list<struct<key: utf8, value: binary>>`, of which no list and no key is null."""

    offsets: Int32s
    keys: BinaryColumn
    values: BinaryColumn


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """The records of some batches, in order; all columns are of the same length."""

    offsets: Int64s
    timestamps: Int64s
    keys: BinaryColumn
    values: BinaryColumn
    headers: HeadersColumn

    def __len__(self) -> int:
        return len(self.offsets)


def decode_columns(
    batches: Iterable[Buffer], *, decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX
) -> RecordColumns:
    """The records of whole batches, each in a buffer of its own; control batches are left out.

    The limit is for the bodies of all batches together. Checksums are not looked at.
    """
    headers, bodies = _read_bodies(batches, min(decompressed_bytes_max, _BODIES_BYTES_MAX))
    data = b"".join([*bodies, _PADDING])
    raw = np.frombuffer(data, np.uint8)
    boundaries = find_boundaries(data, headers, bodies)
    starts, ends = boundaries[:-1], boundaries[1:]

    sizes, positions = _read_varints(raw, starts)
    _refuse(sizes < 0, "has a negative length")
    timestamp_deltas, positions = _read_varints(raw, positions + 1, bits=64)
    offset_deltas, positions = _read_varints(raw, positions)
    keys, key_ends = _read_slices(raw, positions, ends=ends)
    values, value_ends = _read_slices(raw, key_ends, ends=ends)
    header_counts, header_starts = _read_varints(raw, value_ends)
    return RecordColumns(
        offsets=_absolute_offsets(headers, offset_deltas),
        timestamps=_absolute_timestamps(headers, timestamp_deltas),
        keys=_gather(data, keys),
        values=_gather(data, values),
        headers=_read_headers(data, raw, counts=header_counts, positions=header_starts, ends=ends),
    )


@dataclass(frozen=True, slots=True)
class _Slices:
    """Where in the data each value of a column lies; a null has no bytes."""

    starts: Int64s
    lengths: Int64s
    nulls: Bools

    @classmethod
    def make(cls, count: int) -> _Slices:
        return cls(np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.bool_))

    def put(self, indices: Int32s, slices: _Slices) -> None:
        self.starts[indices] = slices.starts
        self.lengths[indices] = slices.lengths
        self.nulls[indices] = slices.nulls


def _read_bodies(
    batches: Iterable[Buffer], bytes_max: int
) -> tuple[list[BatchHeader], list[Buffer]]:
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
        bodies.append(body)
    return headers, bodies


def _read_varints(raw: Bytes, positions: Int64s, *, bits: int = 32) -> tuple[Int64s, Int64s]:
    """The zigzag integers at all the positions, and the positions after them.

    A position past the end reads the last byte: bad lengths show only when the fields they belong
    to have been read, and then they are refused.
    """
    first = raw.take(positions, mode="clip")
    next_positions = positions + 1
    long = first >= 0x80
    if not long.any():
        return _ONE_BYTE_VALUES.take(first), next_positions
    second = raw.take(next_positions, mode="clip")
    zigzags = (first & 0x7F).astype(np.int64)
    zigzags += np.where(long, second & 0x7F, 0).astype(np.int64) << 7
    next_positions += long
    values = (zigzags >> 1) ^ -(zigzags & 1)
    longer = np.flatnonzero(long & (second >= 0x80))
    if longer.size:
        values[longer], next_positions[longer] = _read_long_varints(
            raw, positions[longer], bits=bits
        )
    return values, next_positions


def _read_long_varints(raw: Bytes, positions: Int64s, *, bits: int) -> tuple[Int64s, Int64s]:
    zigzags = np.zeros(len(positions), np.uint64)
    unfinished = np.arange(len(positions))
    for shift in range(0, bits, 7):
        byte = raw.take(positions[unfinished], mode="clip")
        low = (byte & 0x7F).astype(np.uint64)
        if shift + 7 > bits and np.any(low >> np.uint64(bits - shift)):
            break
        zigzags[unfinished] |= low << np.uint64(shift)
        positions[unfinished] += 1
        unfinished = unfinished[byte >= 0x80]
        if not unfinished.size:
            signs = (zigzags & np.uint64(1)).astype(np.int64)
            return (zigzags >> np.uint64(1)).astype(np.int64) ^ -signs, positions
    raise ProtocolError(f"a number in a record does not fit {bits} bits")


def _read_slices(raw: Bytes, positions: Int64s, *, ends: Int64s) -> tuple[_Slices, Int64s]:
    """Nullable bytes with their length before them, none of which may go past its end."""
    lengths, starts = _read_varints(raw, positions)
    nulls = lengths < 0
    lengths[nulls] = 0
    slice_ends = starts + lengths
    _refuse(slice_ends > ends, "has a field that is longer than itself")
    return _Slices(starts, lengths, nulls), slice_ends


def _absolute_offsets(headers: list[BatchHeader], deltas: Int64s) -> Int64s:
    bases = _per_record(headers, [header.base_offset for header in headers])
    deltas_max = _per_record(headers, [header.last_offset_delta for header in headers])
    _refuse((deltas < 0) | (deltas > deltas_max), "is outside of its batch's offsets")
    return bases + deltas


def _absolute_timestamps(headers: list[BatchHeader], deltas: Int64s) -> Int64s:
    """Log append time is one for the whole batch and leaves its deltas without a meaning."""
    append_time = [header.timestamp_type is TimestampType.LOG_APPEND_TIME for header in headers]
    bases = _per_record(
        headers,
        [
            header.max_timestamp if appended else header.base_timestamp
            for header, appended in zip(headers, append_time, strict=True)
        ],
    )
    if any(append_time):
        deltas = np.where(_per_record(headers, append_time), 0, deltas)
    timestamps = bases + deltas
    # A sum overflowed if its sign differs from that of both its terms.
    _refuse(((bases ^ timestamps) & (deltas ^ timestamps)) < 0, "has a timestamp beyond 64 bits")
    return timestamps


def _per_record(headers: list[BatchHeader], values: Sequence[int]) -> Int64s:
    """One value for every batch, repeated for each of its records."""
    counts = np.array([header.record_count for header in headers], np.int64)
    return np.repeat(np.array(values, np.int64), counts)


def _gather(data: bytes, slices: _Slices) -> BinaryColumn:
    """The slices one after the other.

    To Arrow the whole data is a column in which every second value is a slice, and those between
    are what lies between them; it copies every second one faster than numpy can.
    """
    count = len(slices.starts)
    edges = np.zeros(2 * count + 1, np.int32)
    edges[1::2] = slices.starts
    np.add(slices.starts, slices.lengths, out=edges[2::2], casting="unsafe")
    parts = _array(pa.binary(), 2 * count, edges, data)
    is_slice = _array(pa.bool_(), 2 * count, _EVERY_SECOND * (count // 4 + 1))
    _, offsets, gathered = parts.filter(is_slice).buffers()
    validity = np.packbits(~slices.nulls, bitorder="little") if slices.nulls.any() else None
    return BinaryColumn(
        validity, np.frombuffer(offsets, np.int32, count + 1), memoryview(gathered or b"")
    )


def _array(kind: pa.DataType, count: int, *buffers: Buffer | Int32s) -> pa.Array:
    return pa.Array.from_buffers(kind, count, [None, *map(pa.py_buffer, buffers)])


def _to_offsets(lengths: Int64s) -> Int32s:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _read_headers(
    data: bytes, raw: Bytes, *, counts: Int64s, positions: Int64s, ends: Int64s
) -> HeadersColumn:
    """All records' first headers at once, then their second ones, and so on.

    The few that have more than the others are finished one by one, so that a record with very many
    headers costs no more than its bytes.
    """
    # A header takes two bytes at least.
    _refuse((counts < 0) | (2 * counts > ends - positions), "claims headers that it does not hold")
    _refuse((counts == 0) & (positions != ends), "does not end where its length says")
    offsets = _to_offsets(counts)
    if not offsets[-1]:
        return HeadersColumn(offsets, _NO_VALUES, _NO_VALUES)
    keys, values = _Slices.make(int(offsets[-1])), _Slices.make(int(offsets[-1]))
    records = np.flatnonzero(counts)
    slots, left = offsets[records], counts[records]
    positions, ends = positions[records], ends[records]
    while len(slots) >= _ROUND_RECORDS_MIN:
        round_keys, key_ends = _read_slices(raw, positions, ends=ends)
        round_values, positions = _read_slices(raw, key_ends, ends=ends)
        keys.put(slots, round_keys)
        values.put(slots, round_values)
        going = left > 1
        _refuse(~going & (positions != ends), "does not end where its length says")
        slots, left = slots[going] + 1, left[going] - 1
        positions, ends = positions[going], ends[going]
    for slot, count, position, end in zip(
        slots.tolist(), left.tolist(), positions.tolist(), ends.tolist(), strict=True
    ):
        _read_record_headers(
            data, (keys, values), slots=range(slot, slot + count), position=position, end=end
        )
    _refuse(keys.nulls, "has a header without a key")
    key_column = _gather(data, keys)
    return HeadersColumn(offsets, _as_utf8(key_column), _gather(data, values))


def _read_record_headers(
    data: bytes, fields: tuple[_Slices, _Slices], *, slots: range, position: int, end: int
) -> None:
    for slot in slots:
        for slices in fields:
            length, start = read_varint(data, position)
            slices.starts[slot] = start
            slices.lengths[slot] = max(length, 0)
            slices.nulls[slot] = length < 0
            position = start + max(length, 0)
    if position != end:
        raise ProtocolError("a record does not end where its length says")


def _as_utf8(column: BinaryColumn) -> BinaryColumn:
    """What is not UTF-8 gets replacement characters, as in Kafka's clients."""
    data = bytes(column.data)
    raw = np.frombuffer(data + b"\x00", np.uint8)
    try:
        data.decode()
        # No text may begin in the middle of a character.
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


def _refuse(bad: Bools, reason: str) -> None:
    if bad.any():
        raise ProtocolError(f"a record {reason}")
