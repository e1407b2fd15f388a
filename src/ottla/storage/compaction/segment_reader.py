"""Reads the old segments of a compaction: verifies checksums, throttles, and stops on
cancellation."""

from __future__ import annotations

from collections.abc import Callable

from ottla.runtime.disk import Disk
from ottla.storage.compaction.plan import CompactionPlan, PlannedSegment
from ottla.storage.compaction.result import CompactionCancelledError
from ottla.storage.compaction.throttle import Throttle
from ottla.storage.errors import CorruptLogError
from ottla.storage.segments.batch_scan import scan_batches
from ottla.storage.segments.segment import Segment
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import crc_matches
from ottla.wire.records.header import BatchHeader

# Receives a batch, which is valid during the call only. Returns whether to continue.
Visit = Callable[[BatchHeader, memoryview], bool]


class SegmentReader:
    """Used by both passes of one compaction. Keeps no file open between segments."""

    def __init__(
        self,
        disk: Disk,
        plan: CompactionPlan,
        throttle: Throttle,
        is_cancelled: Callable[[], bool],
    ) -> None:
        self._disk = disk
        self._plan = plan
        self._throttle = throttle
        self._is_cancelled = is_cancelled

    def read(self, planned: PlannedSegment, visit: Visit, *, start_offset: int = 0) -> bool:
        """Calls `visit` with each batch from the one that contains `start_offset` on. Returns False
        if `visit` stopped it."""
        segment = Segment.open(
            self._disk,
            self._plan.directory,
            planned.base_offset,
            self._plan.config,
            created_ms=planned.created_ms,
        )
        try:
            start = self._position(segment, planned, start_offset)
            for position, header, batch in scan_batches(segment.log_file, start, planned.size):
                if not self._show(segment, position, header, batch, visit):
                    return False
        finally:
            segment.close()
        return True

    def _position(self, segment: Segment, planned: PlannedSegment, start_offset: int) -> int:
        if start_offset <= planned.base_offset:
            return 0
        located = segment.locate(start_offset)
        return planned.size if located is None else located.position

    def _show(
        self,
        segment: Segment,
        position: int,
        header: BatchHeader,
        batch: memoryview,
        visit: Visit,
    ) -> bool:
        if self._is_cancelled():
            raise CompactionCancelledError(f"the compaction of {self._plan.directory} was stopped")
        self._throttle.spend(len(batch))
        reason = "the batch's checksum does not match its bytes"
        try:
            if crc_matches(batch, 0, header):
                return visit(header, batch)
        except ProtocolError as error:
            reason = str(error)
        raise CorruptLogError(
            segment.log_file.path,
            position=position,
            reason=f"{reason}. The log is not compacted; replace the directory with a copy of "
            "another replica's",
        )
