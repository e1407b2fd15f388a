"""The two compiled loops over a batch's records that columns.py uses.

The first copies keys and values and validates all records; the second copies headers, if there are
any, and relies on that validation.

A step returns the position after the bytes it has read. A negative position is an error: the
negated index of a reason in `REASONS`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.wire.records.compiled import Bytes, Int32s, Int64s, copy_bytes, int64, loop, step, uint64

WELL: Final = 0
# The reasons why a record cannot be read, by error number.
REASONS: Final = (
    "is well",
    "has a number that is cut off or too large",
    "has a negative length",
    "has a field that is longer than the record",
    "is outside of its batch's offsets",
    "has a timestamp beyond 64 bits",
    "declares more headers than it contains",
    "has a header without a key",
    "does not end where its length says",
    "does not end within its batch",
    "is not the last thing in its batch",
)
_NUMBER, _LENGTH, _FIELD, _OFFSET, _TIMESTAMP, _HEADERS, _KEY, _END, _BATCH, _REST = range(1, 11)

_HEADER_BYTES_MIN: Final = 2


class Binaries(NamedTuple):
    """Values for Arrow's `binary`: value `i` is at `offsets[i]` to `offsets[i + 1]` of the data."""

    offsets: Int32s
    data: Bytes
    is_null: Bytes


@step
def _read_number(data: Bytes, at: int, end: int, bits: int) -> tuple[int, int]:
    """Reads a zigzag number. Returns the number and the position after it."""
    if at >= end:
        return int64(0), int64(-_NUMBER)
    byte = data[at]
    if byte < 0x80:
        return int64(byte >> 1) ^ -int64(byte & 1), at + 1
    zigzag = uint64(0)
    shift = 0
    while at < end and shift < bits:
        byte = data[at]
        low = uint64(byte & 0x7F)
        if shift + 7 > bits and low >> uint64(bits - shift):
            break
        zigzag |= low << uint64(shift)
        at += 1
        if byte < 0x80:
            return int64(zigzag >> uint64(1)) ^ -int64(zigzag & uint64(1)), at
        shift += 7
    return int64(0), int64(-_NUMBER)


@step
def _read_length(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Reads the length of a field and checks that the field is complete. Returns the length
    (negative for null) and the field's start.
    """
    length, at = _read_number(data, at, end, 32)
    return length, int64(-_FIELD) if length > end - at and at >= 0 else at


@step
def _skip_headers(data: Bytes, at: int, end: int, count: int) -> int:
    for _ in range(count):
        length, at = _read_length(data, at, end)
        if at >= 0:
            if length < 0:
                return -_KEY
            length, at = _read_length(data, at + length, end)
        if at < 0:
            return at
        at += max(length, int64(0))
    return at if at == end else -_END


@loop
def read_records(
    data: Bytes,
    rows: tuple[int, int],
    base_offset: int,
    last_delta: int,
    base_timestamp: int,
    has_deltas: bool,
    offsets: Int64s,
    timestamps: Int64s,
    has_keys: bool,
    keys: Binaries,
    has_values: bool,
    values: Binaries,
    header_counts: Int64s,
    header_starts: Int64s,
) -> int:
    """Reads a batch's records into rows `rows[0]` to `rows[1]`. Without `has_deltas` all of them
    get `base_timestamp`. Keys and values are skipped unless requested. Returns WELL or the number
    of a reason.
    """
    key_offsets, key_data, key_nulls = keys
    value_offsets, value_data, value_nulls = values
    key_end = int64(key_offsets[rows[0]]) if has_keys else int64(0)
    value_end = int64(value_offsets[rows[0]]) if has_values else int64(0)
    at = int64(0)
    for row in range(rows[0], rows[1]):
        length, at = _read_number(data, at, len(data), 32)
        if at < 0:
            return -at
        if length < 0:
            return _LENGTH
        if length > len(data) - at:
            return _BATCH
        end = at + length
        timestamp_delta, at = _read_number(data, at + 1, end, 64)
        if at < 0:
            return -at
        if not has_deltas:
            timestamp_delta = int64(0)
        timestamp = base_timestamp + timestamp_delta
        # A sum overflowed if its sign differs from that of both its terms.
        if ((base_timestamp ^ timestamp) & (timestamp_delta ^ timestamp)) < 0:
            return _TIMESTAMP
        timestamps[row] = timestamp
        offset_delta, at = _read_number(data, at, end, 32)
        if at < 0:
            return -at
        if offset_delta < 0 or offset_delta > last_delta:
            return _OFFSET
        offsets[row] = base_offset + offset_delta
        # Keys and values are copied here and not in a step: passing their arrays to a step doubles
        # the time of the loop.
        length, at = _read_length(data, at, end)
        if at < 0:
            return -at
        if has_keys:
            if length < 0:
                key_nulls[row] = 1
            else:
                copy_bytes(data, at, key_data, key_end, length)
                key_end += length
            key_offsets[row + 1] = key_end
        at += max(length, int64(0))
        length, at = _read_length(data, at, end)
        if at < 0:
            return -at
        if has_values:
            if length < 0:
                value_nulls[row] = 1
            else:
                copy_bytes(data, at, value_data, value_end, length)
                value_end += length
            value_offsets[row + 1] = value_end
        at += max(length, int64(0))
        count, at = _read_number(data, at, end, 32)
        if at < 0:
            return -at
        if count < 0 or _HEADER_BYTES_MIN * count > end - at:
            return _HEADERS
        header_counts[row] = count
        header_starts[row] = at
        at = _skip_headers(data, at, end, count)
        if at < 0:
            return -at
    return WELL if at == len(data) else _REST


@loop
def read_headers(
    data: Bytes,
    rows: tuple[int, int],
    slot: int,
    counts: Int64s,
    starts: Int64s,
    keys: Binaries,
    values: Binaries,
) -> int:
    """Reads the headers of a batch's rows into slots from `slot` on. Returns the next free slot."""
    key_offsets, key_data, _ = keys
    value_offsets, value_data, value_nulls = values
    key_end, value_end = int64(key_offsets[slot]), int64(value_offsets[slot])
    for row in range(rows[0], rows[1]):
        at = starts[row]
        for _ in range(counts[row]):
            length, at = _read_number(data, at, len(data), 32)
            copy_bytes(data, at, key_data, key_end, length)
            key_end += length
            length, at = _read_number(data, at + length, len(data), 32)
            if length < 0:
                value_nulls[slot] = 1
            else:
                copy_bytes(data, at, value_data, value_end, length)
                value_end += length
                at += length
            slot += 1
            key_offsets[slot] = key_end
            value_offsets[slot] = value_end
    return slot
