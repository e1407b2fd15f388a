"""Where the records of batches start, which only walking from one to the next can tell.

The one loop of reading by the column that goes from record to record, so it is tight; and where
records are of one size, as many are, it leaves the rest to numpy.
"""

from __future__ import annotations

from array import array
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError
from ottla.wire.records.header import BatchHeader
from ottla.wire.varint import read_uvarint

Int64s: TypeAlias = npt.NDArray[np.int64]

# What the bytes of a record's size add to its start to make its end: half of what they say, for
# zigzag, and their own number.
_SIZE_OF_FIRST_BYTE = tuple(1 + byte // 2 if byte < 0x80 else byte // 2 - 62 for byte in range(256))
_SIZE_OF_SECOND_BYTE = tuple(byte << 6 for byte in range(0x80))

# After so many it is asked whether records have come to be of one size, as so many last ones are.
_WALK_RECORDS = 16
_ALIKE_RECORDS = 8


def find_boundaries(data: bytes, headers: list[BatchHeader], bodies: list[Buffer]) -> Int64s:
    """The start of every record in the bodies put together, and the end of the last."""
    boundaries = array("q", (0,))
    body_end = 0
    for header, body in zip(headers, bodies, strict=True):
        body_end += len(body)
        known = len(boundaries)
        try:
            _walk_records(data, boundaries, header.record_count)
        except IndexError:
            del boundaries[known:]
            _walk_any_records(data, boundaries, header.record_count)
        if boundaries[-1] != body_end:
            raise ProtocolError(
                f"the records of the batch at offset {header.base_offset} do not end "
                f"with its {len(body)} bytes"
            )
    return np.frombuffer(boundaries, np.int64)


def _walk_records(data: bytes, boundaries: array[int], count: int) -> None:
    """Some one by one, then as many as are like the last one at once, and so on.

    A size of three bytes raises IndexError.
    """
    end = len(boundaries) + count
    while (left := end - len(boundaries)) > 0:
        _walk_small_records(data, boundaries, min(left, _WALK_RECORDS))
        if left > _WALK_RECORDS:
            size = boundaries[-1] - boundaries[-2]
            if boundaries[-1] - boundaries[-1 - _ALIKE_RECORDS] == size * _ALIKE_RECORDS:
                _walk_alike_records(data, boundaries, left - _WALK_RECORDS, size)


def _walk_alike_records(data: bytes, boundaries: array[int], count: int, size: int) -> None:
    """Those that begin with the same two bytes as the one before them: so they are as long, if the
    size is in them, and so the next one begins where it is looked for."""
    before, position = boundaries[-2:]
    end = min(position + count * size, len(data) - 1)
    firsts = np.frombuffer(data, np.uint8)[position:end:size] == data[before]
    seconds = np.frombuffer(data, np.uint8)[position + 1 : end + 1 : size] == data[before + 1]
    alike = firsts & seconds
    found = len(alike) if alike.all() else int(alike.argmin())
    boundaries.frombytes((position + size * np.arange(1, found + 1)).tobytes())


def _walk_small_records(data: bytes, boundaries: array[int], count: int) -> None:
    """The loop that everything waits for: a size of one byte or two, looked up in tables.

    A size of three bytes falls off the second table's end and raises IndexError.
    """
    size_of_first, size_of_second = _SIZE_OF_FIRST_BYTE, _SIZE_OF_SECOND_BYTE
    position = boundaries[-1]
    for _ in range(count):
        byte = data[position]
        if byte >= 0x80:
            position += size_of_first[byte] + size_of_second[data[position + 1]]
        else:
            position += size_of_first[byte]
        boundaries.append(position)


def _walk_any_records(data: bytes, boundaries: array[int], count: int) -> None:
    position = boundaries[-1]
    for _ in range(count):
        size, position = read_uvarint(data, position)
        position += size >> 1
        boundaries.append(position)
