"""Zigzag varints by the column: how long each is, and all of them written at once.

What stands side by side in a record is packed into one word of eight bytes for each row. The words
are written where they belong, one after the other, so that each puts right what the one before it
wrote over its end.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Int64s: TypeAlias = npt.NDArray[np.int64]

_WORD_BYTES: Final = 8
_SEPTET_BITS: Final = 7
_SIZE_MAX: Final = 5
# By its size: the bits of a varint that say "more follows".
_MORE: Final = np.array([0, 0, 0x80, 0x8080, 0x808080, 0x80808080], np.int64)


def varint_sizes(numbers: Int64s) -> Int64s:
    """The bytes that each takes. None may need more than 32 bits."""
    return _sizes(_zigzags(numbers))


def join_varints(*columns: Int64s | int) -> pa.Array:
    """`binary`: for each row its number of the first column, then that of the second, and so on,
    no more than eight bytes. A number that is the same for all rows stands for a column of it."""
    count = max(len(each) for each in columns if not isinstance(each, int))
    words, sizes = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for column in columns:
        packed, size = _packed(np.array([column]) if isinstance(column, int) else column)
        words |= packed << (8 * sizes)
        sizes += size
    assert sizes.max(initial=0) <= _WORD_BYTES
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    total = int(offsets[-1])
    data = np.empty(total + _WORD_BYTES, np.uint8)
    np.ndarray(total + 1, "<i8", data, strides=(1,))[offsets[:-1]] = words
    return pa.Array.from_buffers(
        pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data[:total])]
    )


def _packed(numbers: Int64s) -> tuple[Int64s, Int64s]:
    """Each as it is written, the first byte lowest, and how many bytes it takes."""
    zigzags = _zigzags(numbers)
    sizes = _sizes(zigzags)
    packed = zigzags & 0x7F
    for at in range(1, int(sizes.max(initial=1))):
        packed |= (zigzags & 0x7F << _SEPTET_BITS * at) << at
    return packed | _MORE[sizes], sizes


def _zigzags(numbers: Int64s) -> Int64s:
    return (numbers << 1) ^ (numbers >> 63)


def _sizes(zigzags: Int64s) -> Int64s:
    sizes = np.ones(len(zigzags), np.int64)
    highest = int(zigzags.max(initial=0))
    for bits in range(_SEPTET_BITS, _SEPTET_BITS * _SIZE_MAX, _SEPTET_BITS):
        if highest >> bits:
            sizes += zigzags >= 1 << bits
    return sizes
