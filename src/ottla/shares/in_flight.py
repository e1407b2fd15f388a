"""The records of a share partition that are in flight: from its start offset to its end offset."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.shares.delivery import BatchOffsets
from ottla.shares.record_state import RecordState
from ottla.shares.runs import Run, Runs


class RecordsInFlight:
    """The base of `SharePartition`."""

    def __init__(self, start_offset: int) -> None:
        self.start_offset = start_offset
        self.end_offset = start_offset
        self.runs = Runs()

    @property
    def in_flight(self) -> int:
        return self.end_offset - self.start_offset

    def extend(self, end_offset: int, state: RecordState) -> None:
        """Moves the end offset up; the records in between get this state."""
        if end_offset > self.end_offset:
            self.runs.append(Run(self.end_offset, end_offset - 1, state))
            self.end_offset = end_offset

    def archive(self, spans: Iterable[BatchOffsets]) -> None:
        """Archives available records: those of aborted transactions."""
        for span in spans:
            first, last = max(span.first, self.start_offset), min(span.last, self.end_offset - 1)
            self.archive_free(first, last)

    def archive_free(self, first: int, last: int) -> None:
        if first > last:
            return
        for run in self.runs.cut(first, last):
            if run.is_free:
                run.state, run.due = RecordState.ARCHIVED, 0
        self.runs.join(first, last)

    def advance(self) -> None:
        """Moves the start offset past records that are done."""
        next_offset = self.runs.drop_done()
        if next_offset is not None:
            self.start_offset = next_offset
