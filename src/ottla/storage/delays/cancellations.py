"""Which keys were cancelled, up to which offset.

A cancellation is remembered until all records that were held when it was read are gone: at the
latest when nothing is held. It needs no record of its own for what it has cancelled: a later leader
reads it from the log again.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Final

from ottla.model import ErrorCode, KafkaError

# About 200 bytes each.
CANCELLATIONS_MAX: Final = 200_000
_LOOK_MS: Final = 10_000
# It may cancel records of an open transaction, of which nothing is known yet.
UNDECIDED: Final = 2**63


class Cancellations:
    """Owned by the leader of a partition."""

    def __init__(self) -> None:
        # By the key's digest: the offset of the cancellation, and when it is no longer needed.
        self._keys: dict[bytes, tuple[int, int]] = {}
        self._looks_again_ms = 0

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: bytes, offset: int, *, needed_until_ms: int) -> None:
        digest = _digest(key)
        known = self._keys.get(digest)
        # A transaction's is added when it is committed: later ones may have been added before.
        if known is not None:
            offset, needed_until_ms = max(offset, known[0]), max(needed_until_ms, known[1])
        self._keys[digest] = offset, needed_until_ms

    def clear(self) -> None:
        """Nothing is held."""
        self._keys.clear()

    def covers(self, key: bytes | None, offset: int) -> bool:
        """Whether the record with this key at this offset was cancelled."""
        if key is None or not self._keys:
            return False
        found = self._keys.get(_digest(key))
        return found is not None and found[0] > offset

    def require_room(self, now_ms: int, forget: Callable[[], None]) -> None:
        """Raises POLICY_VIOLATION if no more can be remembered, even if it may `forget` some."""
        if len(self._keys) < CANCELLATIONS_MAX:
            return
        if now_ms >= self._looks_again_ms:
            # It takes some 20 ms.
            self._looks_again_ms = now_ms + _LOOK_MS
            forget()
        if len(self._keys) >= CANCELLATIONS_MAX:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION,
                f"the partition has {len(self._keys)} cancellations of records that are still held",
            )

    def forget_unneeded(
        self, *, first_due_ms: int, latest_due_ms: int, open_from: int | None
    ) -> None:
        """Given when the first and the latest of the held records are due, and where the first open
        transaction begins."""
        kept = {}
        for digest, (offset, until_ms) in self._keys.items():
            if until_ms == UNDECIDED and (open_from is None or offset < open_from):
                until_ms = latest_due_ms
            if until_ms >= first_due_ms:
                kept[digest] = offset, until_ms
        self._keys = kept


def _digest(key: bytes) -> bytes:
    return blake2b(key, digest_size=16).digest()
