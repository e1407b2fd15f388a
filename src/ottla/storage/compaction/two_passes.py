"""The heavy part of a compaction: reads the old segments and writes cleaned ones beside them.

The first pass reads the dirty part and records the newest offset of each key. The second reads
everything from the log's first segment on and copies what is kept. It touches only files, not the
`Log`, so it runs in a worker process, or inline in a simulation. If it fails, the old segments are
unchanged, and the cleaned ones are removed at once or when the log is next opened.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ottla.runtime.disk import Disk
from ottla.storage.compaction.batch_filter import BatchFilter
from ottla.storage.compaction.cleaned_segment import CleanedSegment
from ottla.storage.compaction.offset_map import OffsetMap
from ottla.storage.compaction.plan import CompactionPlan, PlannedSegment
from ottla.storage.compaction.result import CleanedGroup, CompactionCancelledError, CompactionResult
from ottla.storage.compaction.segment_groups import SizedSegment, group_segments
from ottla.storage.compaction.segment_reader import SegmentReader
from ottla.storage.compaction.throttle import Sleep, Throttle
from ottla.storage.compaction.transaction_walk import TransactionWalk
from ottla.storage.files.file_names import FileKind, FileState, SegmentFileName
from ottla.storage.files.rewriting import sync_file
from ottla.storage.segments.interrupted_work import remove_segment_files, segment_files
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import read_body
from ottla.wire.records.header import BatchHeader


def compact(
    disk: Disk,
    plan: CompactionPlan,
    *,
    sleep: Sleep | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> CompactionResult:
    """Writes the cleaned segments of a plan, durably.

    Calls `is_cancelled` before each batch, and `sleep` if the plan limits the rate. Raises
    `CorruptLogError` for invalid bytes, `CompactionCancelledError`, or `OSError`.
    """
    throttle = Throttle(plan.bytes_per_second, sleep)
    reader = SegmentReader(disk, plan, throttle, is_cancelled)
    try:
        # Removes the files of a killed worker: after a crash, recovery would discard every `.swap`
        # file at or above a left-over `.cleaned` file.
        remove_cleaned(disk, plan.directory)
        _sync(disk, plan)
        offset_map = build_offset_map(plan, reader)
        groups = _group(disk, plan, offset_map.latest_offset)
        ends = [group[-1].end_offset for group in groups]
        batch_filter = BatchFilter(plan, offset_map, end_offsets=ends)
        cleaned = tuple(
            _clean(group, disk, plan, reader, batch_filter, throttle) for group in groups
        )
    except Exception as error:
        with suppress(OSError):
            remove_cleaned(disk, plan.directory)
        if isinstance(error, FileNotFoundError):
            # Removed meanwhile by retention, a truncation or the deletion of the topic.
            raise CompactionCancelledError(
                f"{plan.directory} has lost segments since its compaction was planned"
            ) from error
        raise
    return CompactionResult(
        plan,
        cleaned,
        offset_map.latest_offset + 1,
        records_read=batch_filter.records_read,
        records_kept=batch_filter.records_kept,
        unreadable_count=batch_filter.unreadable_count,
        unreadable=tuple(batch_filter.unreadable),
    )


def remove_cleaned(disk: Disk, directory: str) -> None:
    """Removes every `.cleaned` file."""
    found = segment_files(disk, directory)
    remove_segment_files(
        disk, directory, [name for name in found if name.state is FileState.CLEANED]
    )


def _sync(disk: Disk, plan: CompactionPlan) -> None:
    """Makes the log durable, up to its end at planning time.

    Otherwise a crash after the swap could lose the only copy of a value, or the marker that
    committed it, because the older copy has been compacted away.
    """
    for base_offset in plan.unsynced_segments:
        file = disk.open(f"{plan.directory}/{SegmentFileName(base_offset, FileKind.LOG)}")
        try:
            sync_file(file)
        finally:
            file.close()
    disk.sync_directory(plan.directory)


def build_offset_map(plan: CompactionPlan, reader: SegmentReader) -> OffsetMap:
    """The first pass. It stops when the map is full, even in the middle of a batch."""
    offset_map = OffsetMap(memory_bytes=plan.memory_bytes)
    start_offset = plan.first_dirty_offset
    transactions = TransactionWalk(plan.aborted_transactions)

    def visit(header: BatchHeader, batch: memoryview) -> bool:
        if header.is_control:
            transactions.meet_marker(header, batch)
        elif not transactions.meet_data(header):
            try:
                body = read_body(batch, 0, header)
                return offset_map.add(header, body, start_offset=start_offset)
            except ProtocolError:
                # The second pass keeps the batch and reports it.
                offset_map.leave_out(header)
        return True

    for planned in plan.segments:
        if planned.end_offset > start_offset:
            if not reader.read(planned, visit, start_offset=start_offset):
                break
            # Its last offsets may be a marker's, or a gap.
            offset_map.latest_offset = planned.end_offset - 1
    return offset_map


def _group(disk: Disk, plan: CompactionPlan, latest_offset: int) -> list[list[PlannedSegment]]:
    def size(planned: PlannedSegment, kind: FileKind) -> int:
        return disk.file_size(f"{plan.directory}/{SegmentFileName(planned.base_offset, kind)}")

    covered = [
        SizedSegment(
            planned,
            index_size=size(planned, FileKind.OFFSET_INDEX),
            time_index_size=size(planned, FileKind.TIME_INDEX),
        )
        for planned in plan.segments
        if planned.base_offset <= latest_offset
    ]
    return group_segments(covered, plan.config)


def _clean(
    group: list[PlannedSegment],
    disk: Disk,
    plan: CompactionPlan,
    reader: SegmentReader,
    batch_filter: BatchFilter,
    throttle: Throttle,
) -> CleanedGroup:
    """The second pass over one group."""
    cleaned = CleanedSegment(disk, plan, group, throttle)

    def visit(header: BatchHeader, batch: memoryview) -> bool:
        kept = batch_filter.filter(batch, header)
        if kept is not None:
            cleaned.append(kept)
        if batch_filter.aborted is not None:
            cleaned.append_aborted(batch_filter.aborted)
        return True

    try:
        for planned in group:
            reader.read(planned, visit)
        cleaned.finish()
    finally:
        cleaned.close()
    return CleanedGroup(tuple(group), cleaned.size)
