"""The hash by which Kafka's producer spreads keys over partitions, for a column at a time.

All keys are hashed together, four bytes of each in a round, and those that have ended drop out. The
few that are much longer than keys should be are hashed one by one, so that a single one of them
does not cost a round of numpy calls for every four of its bytes.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ottla.model import Buffer

UInt32s: TypeAlias = npt.NDArray[np.uint32]
Int64s: TypeAlias = npt.NDArray[np.int64]

_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_R: Final = 24
_MASK: Final = 0xFFFFFFFF
_WORD_BYTES: Final = 4
_TOGETHER_BYTES_MAX: Final = 256
# The bytes of a last word that belong to the key, by how many they are.
_TAIL_MASKS: Final = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], np.uint32)


def murmur2(key: Buffer) -> int:
    """Of one key, as 32 bits without a sign."""
    length = len(key)
    found = _SEED ^ length
    whole = length - length % _WORD_BYTES
    for at in range(0, whole, _WORD_BYTES):
        word = int.from_bytes(key[at : at + _WORD_BYTES], "little") * _M & _MASK
        word = (word ^ word >> _R) * _M & _MASK
        found = (found * _M & _MASK) ^ word
    if whole < length:
        found = (found ^ int.from_bytes(key[whole:], "little")) * _M & _MASK
    found = (found ^ found >> 13) * _M & _MASK
    return found ^ found >> 15


def murmur2_of(keys: pa.Array) -> UInt32s:
    """Of each key of a `binary` column; what a null gets means nothing."""
    _, offsets_buffer, data_buffer = keys.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int32)[keys.offset : keys.offset + len(keys) + 1]
    starts = offsets[:-1].astype(np.int64)
    lengths = np.diff(offsets).astype(np.int64)
    data = b"" if data_buffer is None else bytes(data_buffer)
    long = np.flatnonzero(lengths > _TOGETHER_BYTES_MAX)
    together = lengths.copy()
    together[long] = 0
    found = _hash_together(data, starts, together)
    for index in long.tolist():
        start = int(starts[index])
        found[index] = murmur2(data[start : start + int(lengths[index])])
    return found


def _hash_together(data: bytes, starts: Int64s, lengths: Int64s) -> UInt32s:
    padded = data + bytes(_WORD_BYTES)
    words = np.ndarray(len(data) + 1, "<u4", padded, strides=(1,))
    m, r = np.uint32(_M), np.uint32(_R)
    found = lengths.astype(np.uint32) ^ np.uint32(_SEED)
    counts = lengths // _WORD_BYTES
    for at in range(int(counts.max(initial=0))):
        going = slice(None) if at < int(counts.min()) else np.flatnonzero(counts > at)
        word = words[starts[going] + at * _WORD_BYTES] * m
        word = (word ^ (word >> r)) * m
        found[going] = found[going] * m ^ word
    rest = lengths % _WORD_BYTES
    tail = words[starts + counts * _WORD_BYTES] & _TAIL_MASKS[rest]
    found = np.where(rest > 0, (found ^ tail) * m, found)
    found = (found ^ (found >> np.uint32(13))) * m
    return found ^ (found >> np.uint32(15))
