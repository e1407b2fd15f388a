"""Compiled loops that read flat Avro records: records whose fields have no fields of their own.

All fields of a row are read in one pass, by a table of their kinds. A row that cannot be read has
the number of its failing field, from 1, in `errors`; -1 if bytes are left behind the last field.

By field, `null_branches` has the branch of null in a union of null and another type, -1 for a
field that is no union; `sizes` has the length of a fixed, or the number of an enum's symbols. By
field and row, `numbers` has the number, its bits, or the length of bytes; `starts` has where bytes
begin.
"""

from __future__ import annotations

from typing import Final

from ottla.wire.records.compiled import Bytes, Int32s, Int64s, copy_bytes, int64, loop, step

LONG: Final = 0
INT: Final = 1
BOOLEAN: Final = 2
FLOAT: Final = 3
DOUBLE: Final = 4
BYTES: Final = 5
FIXED: Final = 6
ENUM: Final = 7
NULL: Final = 8

LEFT: Final = -1
_INT_MAX: Final = 2_147_483_647
# Ten bytes.
_SHIFT_END: Final = 70


@step
def _varint(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """A zigzag number, and where it ends; -1 if it does not."""
    number = 0
    shift = 0
    is_whole = False
    while at < end and shift < _SHIFT_END:
        byte = int64(data[at])
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            is_whole = True
            break
    value = ((number >> 1) & 0x7FFFFFFFFFFFFFFF) ^ -(number & 1)
    return value, at if is_whole else -1


@step
def _is_outside(kind: int, value: int, size: int) -> bool:
    if kind == INT:
        return value > _INT_MAX or value < -_INT_MAX - 1
    return kind == ENUM and (value < 0 or value >= size)


@step
def _length(kind: int, size: int) -> int:
    if kind == BOOLEAN:
        return 1
    if kind == FLOAT:
        return 4
    return 8 if kind == DOUBLE else size


@step
def _bits(data: Bytes, at: int, length: int) -> int:
    """Little-endian."""
    bits = 0
    for index in range(length):
        bits |= int64(data[at + index]) << (8 * index)
    return bits


@loop
def read_flat(
    data: Bytes,
    offsets: Int32s,
    prefix: int,
    kinds: Int32s,
    null_branches: Int32s,
    sizes: Int32s,
    numbers: Int64s,
    starts: Int64s,
    nulls: Bytes,
    errors: Int32s,
) -> None:
    rows = offsets.size - 1
    for row in range(rows):
        at = offsets[row] + prefix
        end = offsets[row + 1]
        error = 0
        for field in range(kinds.size):
            place = field * rows + row
            kind = kinds[field]
            if null_branches[field] >= 0:
                # A union begins with the number of its branch: 0 or 1, zigzag.
                if at >= end or (data[at] != 0 and data[at] != 2):
                    error = field + 1
                    break
                is_null = (data[at] >> 1) == null_branches[field]
                at += 1
                if is_null:
                    nulls[place] = 1
                    continue
            if kind in (LONG, INT, ENUM, BYTES):
                value, at = _varint(data, at, end)
                if at < 0 or _is_outside(kind, value, sizes[field]):
                    error = field + 1
                    break
                numbers[place] = value
                if kind == BYTES:
                    if value < 0 or value > end - at:
                        error = field + 1
                        break
                    starts[place] = at
                    at += value
                continue
            length = _length(kind, sizes[field])
            if length > end - at:
                error = field + 1
                break
            if kind == FIXED:
                starts[place] = at
                numbers[place] = length
            else:
                bits = _bits(data, at, length)
                if kind == BOOLEAN and bits > 1:
                    error = field + 1
                    break
                numbers[place] = bits
            at += length
        if error == 0 and at != end:
            error = LEFT
        errors[row] = error


@loop
def gather(data: Bytes, starts: Int64s, ends: Int32s, target: Bytes) -> None:
    """Copies the values of a column behind each other. `ends` are Arrow's offsets."""
    for row in range(starts.size):
        length = ends[row + 1] - ends[row]
        if length > 0:
            copy_bytes(data, starts[row], target, ends[row], length)
