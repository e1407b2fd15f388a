"""A log in memory for a coordinator, whose replication the test decides."""

from __future__ import annotations

from collections.abc import Callable

from ottla.model import Buffer, ErrorCode, KafkaError, LeaderEpoch, Offset
from ottla.storage.producers.verification import Verification
from ottla.wire.records import assign_offset_and_epoch, read_header


class MemoryLog:
    """Commits at once, unless it is `held`."""

    def __init__(self) -> None:
        self.batches: list[bytes] = []
        self.end_offset = 0
        self.committed = 0
        self.is_held = False
        self.refusal: ErrorCode | None = None
        # What the last append came with.
        self.verification: Verification | None = None
        self._waiting: list[tuple[int, Callable[[ErrorCode], None]]] = []

    def append(
        self,
        batch: Buffer,
        *,
        now_ms: int = 0,
        transaction_version: int = 0,
        verification: Verification | None = None,
    ) -> int:
        self.verification = verification
        if self.refusal is not None:
            raise KafkaError(self.refusal, "refused by the test")
        placed = bytearray(batch)
        assign_offset_and_epoch(
            placed, 0, base_offset=Offset(self.end_offset), leader_epoch=LeaderEpoch(0)
        )
        self.batches.append(bytes(placed))
        self.end_offset += read_header(placed).record_count
        if not self.is_held:
            self.commit()
        return self.end_offset

    def is_committed(self, end_offset: int) -> bool:
        return self.committed >= end_offset

    def when_committed(self, end_offset: int, callback: Callable[[ErrorCode], None]) -> None:
        self._waiting.append((end_offset, callback))

    def commit(self) -> None:
        """All in-sync replicas have everything."""
        self.committed = self.end_offset
        waiting, self._waiting = self._waiting, []
        for _, callback in waiting:
            callback(ErrorCode.NONE)

    def fail(self, error: ErrorCode) -> None:
        waiting, self._waiting = self._waiting, []
        for _, callback in waiting:
            callback(error)
