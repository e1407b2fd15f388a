"""The hash by which Kafka's producer assigns keys to partitions.

This function hashes single keys; `hash_keys` in row_loops.py hashes columns.
"""

from __future__ import annotations

from typing import Final

from ottla.model import Buffer

SEED: Final = 0x9747B28C
M: Final = 0x5BD1E995
R: Final = 24
_MASK: Final = 0xFFFFFFFF
_WORD_BYTES: Final = 4


def murmur2(key: Buffer) -> int:
    """The hash of one key, as an unsigned 32-bit number."""
    length = len(key)
    found = SEED ^ length
    whole = length - length % _WORD_BYTES
    for at in range(0, whole, _WORD_BYTES):
        word = int.from_bytes(key[at : at + _WORD_BYTES], "little") * M & _MASK
        word = (word ^ word >> R) * M & _MASK
        found = (found * M & _MASK) ^ word
    if whole < length:
        found = (found ^ int.from_bytes(key[whole:], "little")) * M & _MASK
    found = (found ^ found >> 13) * M & _MASK
    return found ^ found >> 15
