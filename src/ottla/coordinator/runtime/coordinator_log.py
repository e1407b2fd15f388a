"""The interface of the partition that stores a coordinator's state, as a shard uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ottla.model import Buffer, ErrorCode
from ottla.storage.producers.verification import Verification


class CoordinatorLog(Protocol):
    """Led by this node as long as its shard exists."""

    @property
    def end_offset(self) -> int: ...

    def append(
        self,
        batch: Buffer,
        *,
        now_ms: int,
        transaction_version: int = 0,
        verification: Verification | None = None,
    ) -> int:
        """Appends a batch with acks=all, and returns the new log end offset. For a marker, pass its
        transaction version; for a batch that may start a transaction, the result of verifying its
        partition.

        If it raises `KafkaError`, nothing was appended.
        """

    def is_committed(self, end_offset: int) -> bool:
        """Whether all in-sync replicas have everything below this offset."""

    def when_committed(self, end_offset: int, callback: Callable[[ErrorCode], None]) -> None:
        """Calls `callback` once: with NONE when all in-sync replicas have everything below this
        offset, or with an error if that may never happen."""
