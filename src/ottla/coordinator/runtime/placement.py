"""Which partition of an internal topic a coordinator's key belongs to."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_INT_BITS = 0xFFFFFFFF
_SIGN = 0x80000000
# A transaction asks for the place of one key many times over.
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
    """The one that Kafka's clients and tools expect: nobody may disagree about it."""
    hashed = java_hash(key)
    # The lowest integer has no positive counterpart; Kafka takes 0 for it.
    positive = 0 if hashed == -(1 << 31) else abs(hashed)
    return positive % partition_count
