"""Recovery of a log after a crash: checks each segment batch by batch and truncates at the first
invalid one.

A segment that does not begin where the previous one ends is removed as well, because power loss may
keep bytes that were written later. Gaps left by compaction are allowed: the segments around them
were durable before the compaction. Below `compacted_up_to` gaps may come from Kafka, whose recovery
point may lag behind.

Recovery rebuilds everything derived from the log: indexes, leader epochs and producer state. Bytes
below the recovery point were on the device before the crash, so damage there is not a torn write
but corruption. Truncating would lose acknowledged records, so the log stays closed instead. Bytes
above the recovery point may be in the page cache only and are written again (rewriting.py).
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.runtime.disk import Disk
from ottla.storage.epochs.epoch_cache import LeaderEpochCache
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.files.file_names import FileKind
from ottla.storage.producers.producer_history import ProducerHistory
from ottla.storage.segments.batch_scan import scan_batches
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segments import Segments
from ottla.wire.records.batch import crc_matches
from ottla.wire.records.header import BatchHeader


class Recovered(NamedTuple):
    """The offsets that were recovered, from `start_offset` to the log end. They still have to be
    synced."""

    start_offset: int
    end_offset: int


class Recovery(NamedTuple):
    """The inputs of one recovery; `run` is called once."""

    disk: Disk
    directory: str
    segments: Segments
    producers: ProducerHistory
    epochs: LeaderEpochCache
    recovery_point: int
    compacted_up_to: int

    def run(self, start: int, *, now_ms: int) -> Recovered:
        """Recovers the segment that contains `start` and all later ones."""
        suspects = self._suspects(start)
        # The previous process may have died before the directory entries were durable.
        suspects[0].doubt_name()
        start = end = suspects[0].base_offset
        self.epochs.truncate_from_end(end)
        self.producers.load_up_to(end, self.segments, now_ms=now_ms)
        for number, segment in enumerate(suspects):
            if segment.base_offset != end and not self._was_safe(segment):
                self._drop(suspects[number:])
                break
            if segment.base_offset < end:
                raise StorageError(f"{segment.path(FileKind.LOG)} begins before offset {end}")
            size = segment.size
            end = recover_segment(
                segment,
                producers=self.producers,
                epochs=self.epochs,
                recovery_point=self.recovery_point,
            )
            self.producers.take_snapshot(end)
            if segment.size < size:
                self._drop(suspects[number + 1 :])
                break
        return Recovered(start, end)

    def _suspects(self, start: int) -> list[Segment]:
        suspects = self.segments.starting_with(start)
        # If this segment was rolled after the last flush, the end of its time index may be missing
        # or not durable.
        previous = self.segments.containing(suspects[0].base_offset - 1)
        if previous is None:
            return suspects
        if previous.has_complete_indexes():
            previous.rewrite_indexes()
            previous.sync()
            return suspects
        return [previous, *suspects]

    def _was_safe(self, segment: Segment) -> bool:
        return segment.base_offset <= max(self.recovery_point, self.compacted_up_to)

    def _drop(self, dropped: list[Segment]) -> None:
        """Removes segments durably: one that came back after a crash might fit the log's new
        end."""
        for segment in dropped:
            self.segments.remove(segment)
            segment.remove()
        self.disk.sync_directory(self.directory)


def recover_segment(
    segment: Segment,
    *,
    producers: ProducerHistory,
    epochs: LeaderEpochCache,
    recovery_point: int,
) -> int:
    """Rebuilds a segment's indexes and truncates it durably after the last valid batch. Returns the
    offset after that batch. The caller syncs the rest."""
    segment.reset_indexes()
    end_position, next_offset, safe_position = 0, segment.base_offset, 0
    try:
        for position, header, batch in scan_batches(segment.log_file, 0, segment.size):
            _require_sound(segment, position, header, batch, next_offset)
            segment.index_batch(
                header.last_offset, header.max_timestamp, header.size_in_bytes, position
            )
            if header.leader_epoch >= 0 and header.leader_epoch != epochs.latest_epoch:
                epochs.assign(epoch=header.leader_epoch, start_offset=header.base_offset)
            if header.has_producer_id:
                producers.note(batch, header, segment)
            end_position, next_offset = position + len(batch), header.next_offset
            if next_offset <= recovery_point:
                safe_position = end_position
    except CorruptLogError as error:
        if next_offset < recovery_point:
            raise CorruptLogError(
                segment.log_file.path,
                position=error.position,
                reason=f"offsets {next_offset} to {recovery_point - 1} were flushed to this disk "
                "and cannot be read any more. Move the file away to continue without "
                "them, or replace the directory with a copy of another replica's",
            ) from error
    if end_position < segment.size:
        segment.truncate_at(end_position, next_offset)
    segment.rewrite_log(safe_position)
    segment.become_inactive()
    return next_offset


def _require_sound(
    segment: Segment, position: int, header: BatchHeader, batch: memoryview, next_offset: int
) -> None:
    if not crc_matches(batch, 0, header):
        reason = "the batch's checksum does not match its bytes"
    elif header.base_offset < next_offset or not segment.can_hold(header.last_offset):
        reason = f"offset {header.base_offset} follows offset {next_offset - 1}"
    else:
        return
    raise CorruptLogError(segment.log_file.path, position=position, reason=reason)
