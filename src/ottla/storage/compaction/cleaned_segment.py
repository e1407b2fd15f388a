"""Writes the segment that replaces a group of old ones, under `.cleaned` names."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ottla.model import Buffer
from ottla.runtime.disk import Disk
from ottla.storage.compaction.plan import CompactionPlan, PlannedSegment
from ottla.storage.compaction.throttle import Throttle
from ottla.storage.files.file_names import FileState
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.segments.segment import Segment
from ottla.wire.records.header import BatchHeader, read_header

_WRITE_BYTES: Final = 1 << 20


class CleanedSegment:
    """Collects batches into large writes. `finish` makes it durable; `close` has to be called
    either way."""

    def __init__(
        self, disk: Disk, plan: CompactionPlan, group: list[PlannedSegment], throttle: Throttle
    ) -> None:
        self._segment = Segment.create(
            disk,
            plan.directory,
            group[0].base_offset,
            # The cleaned segment is mostly far smaller than an active segment's reserved space.
            replace(plan.config, preallocate=False),
            created_ms=group[-1].created_ms,
            state=FileState.CLEANED,
        )
        self._throttle = throttle
        self._batches = bytearray()
        self._headers: list[BatchHeader] = []

    @property
    def size(self) -> int:
        return self._segment.size + len(self._batches)

    def append(self, batch: Buffer) -> None:
        header = read_header(batch)
        self._batches += batch
        self._headers.append(header)
        if len(self._batches) >= _WRITE_BYTES:
            self._write()

    def append_aborted(self, transaction: AbortedTransaction) -> None:
        self._segment.transaction_index.append(transaction)

    def finish(self) -> None:
        self._write()
        self._segment.become_inactive()
        self._segment.sync()

    def close(self) -> None:
        self._segment.close()

    def _write(self) -> None:
        if self._headers:
            self._segment.append((self._batches,), self._headers)
            self._throttle.spend(len(self._batches))
            self._batches, self._headers = bytearray(), []
