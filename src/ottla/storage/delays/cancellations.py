"""Which keys were cancelled, up to which offset.

A cancellation is remembered until all records that were held when it was read are gone. It needs no
record of its own for what it has cancelled: a later leader reads it from the log again.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from ottla.model import ErrorCode, KafkaError

# About 200 bytes each.
CANCELLATIONS_MAX: Final = 200_000
_LOOK_MS: Final = 10_000


class Cancellations:
    """Owned by the leader of a partition."""

    def __init__(self) -> None:
        # By the key's digest: the offset of the cancellation, and when it is no longer needed.
        self._keys: dict[bytes, tuple[int, int]] = {}
        self._looks_again_ms = 0

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: bytes, offset: int, *, needed_until_ms: int) -> None:
        self._keys[_digest(key)] = offset, needed_until_ms

    def covers(self, key: bytes | None, offset: int) -> bool:
        """Whether the record with this key at this offset was cancelled."""
        if key is None or not self._keys:
            return False
        found = self._keys.get(_digest(key))
        return found is not None and found[0] > offset

    def require_room(self, now_ms: int) -> None:
        """Raises POLICY_VIOLATION if no more can be remembered."""
        if len(self._keys) < CANCELLATIONS_MAX:
            return
        if now_ms >= self._looks_again_ms:
            # It takes some 20 ms.
            self._looks_again_ms = now_ms + _LOOK_MS
            self.forget_unneeded(now_ms)
        if len(self._keys) >= CANCELLATIONS_MAX:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION,
                f"the partition has {len(self._keys)} cancellations of records that are still held",
            )

    def forget_unneeded(self, now_ms: int) -> None:
        self._keys = {digest: each for digest, each in self._keys.items() if each[1] >= now_ms}


def _digest(key: bytes) -> bytes:
    return blake2b(key, digest_size=16).digest()
