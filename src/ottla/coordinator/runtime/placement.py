"""The partition of an internal topic for a coordinator's key (group id or transactional id)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_INT_BITS = 0xFFFFFFFF
_SIGN = 0x80000000
# A transaction looks up the same key many times.
_REMEMBERED_MAX: Final = 4_096


def java_hash(text: str) -> int:
    """`String.hashCode`, over the text's UTF-16 units."""
    result = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(encoded[::2], encoded[1::2], strict=True):
        result = (31 * result + (high << 8 | low)) & _INT_BITS
    return result - (1 << 32) if result & _SIGN else result


@lru_cache(maxsize=_REMEMBERED_MAX)
def partition_for(key: str, partition_count: int) -> int:
    """The same partition as Kafka computes; clients and tools depend on it."""
    hashed = java_hash(key)
    # The lowest integer has no positive counterpart; Kafka uses 0.
    positive = 0 if hashed == -(1 << 31) else abs(hashed)
    return positive % partition_count
