"""A segment after a crash: walked batch by batch, cut at the first that is not whole.

Everything that can be derived from the log is derived again: indexes, leader epochs, the state of
producers. What is below the recovery point was on the device before the crash, so damage there is
no torn write but rot: cutting it would lose what was acknowledged, and the log stays closed
instead.
"""

from __future__ import annotations

from ottla.storage.batch_scan import scan_batches
from ottla.storage.epoch_cache import LeaderEpochCache
from ottla.storage.errors import CorruptLogError
from ottla.storage.producer_history import ProducerHistory
from ottla.storage.segment import BatchExtent, Segment
from ottla.wire.records.batch import crc_matches
from ottla.wire.records.header import BatchHeader


def recover_segment(
    segment: Segment,
    *,
    producers: ProducerHistory,
    epochs: LeaderEpochCache,
    recovery_point: int,
) -> int:
    """Makes a segment whole and durable, and returns the offset after its last batch."""
    segment.reset_indexes()
    end_position, next_offset = 0, segment.base_offset
    try:
        for position, header, batch in scan_batches(segment.log_file, 0, segment.size):
            _require_sound(segment, position, header, batch, next_offset)
            segment.index_batch(
                BatchExtent(header.last_offset, header.max_timestamp, header.size_in_bytes),
                position,
            )
            if header.leader_epoch >= 0 and header.leader_epoch != epochs.latest_epoch:
                epochs.assign(epoch=header.leader_epoch, start_offset=header.base_offset)
            if header.has_producer_id:
                producers.note(batch, header, segment)
            end_position, next_offset = position + len(batch), header.next_offset
    except CorruptLogError as error:
        if next_offset < recovery_point:
            raise CorruptLogError(
                segment.log_file.path,
                position=error.position,
                reason=f"offsets {next_offset} to {recovery_point - 1} were safe on this disk and "
                "cannot be read any more. Move the file away to go on without them, or replace "
                "the directory by a copy of another replica's",
            ) from error
    if end_position < segment.size:
        segment.truncate_at(end_position, next_offset)
    segment.become_inactive()
    segment.sync()
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
