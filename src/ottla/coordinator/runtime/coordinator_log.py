"""The partition that a coordinator's state is kept in, as a shard needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ottla.model import Buffer, ErrorCode
from ottla.storage.producers.verification import Verification


class CoordinatorLog(Protocol):
    """Led by this node while there is a shard of it."""

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
        """Appends a batch for all in-sync replicas, and says where the log ends now. A marker comes
        with the version of its transaction, what may open a transaction with what was verified.

        Raises `KafkaError`, and then nothing was appended.
        """

    def is_committed(self, end_offset: int) -> bool:
        """Whether all in-sync replicas have everything below this offset."""

    def when_committed(self, end_offset: int, told: Callable[[ErrorCode], None]) -> None:
        """Has `told` called once: with NONE when they have, or with why they never may."""
