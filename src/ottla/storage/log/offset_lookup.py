"""Offsets by timestamp, for ListOffsets, including its special timestamps.

Headers only say which batch may hold a timestamp; its records have to be read to find out. A batch
can be large, above all once it is decompressed, so the caller decides on which thread to search it:
`offset_lookup` is a generator that yields one `BatchSearch` after the other and receives each
result.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from ottla.model import NO_TIMESTAMP
from ottla.storage.indexes.time_index import TimestampOffset
from ottla.storage.log.log import Log
from ottla.storage.segments.segment import Segment
from ottla.wire.records.batch import DECOMPRESSED_BYTES_MAX, read_body
from ottla.wire.records.compression import OutputTooLargeError
from ottla.wire.records.header import BatchHeader, TimestampType, read_header
from ottla.wire.records.record import walk_records

# Takes at most 2 ms on the event loop, with the slowest codec and the most records.
_INLINE_RECORDS_MAX: Final = 2_000
_INLINE_BYTES_MAX: Final = 256 * 1024


class SpecialTimestamp(IntEnum):
    """Timestamps with a special meaning in ListOffsets; no record has them."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    # The rest distinguish local from tiered storage (KIP-405, KIP-1005, KIP-1023). Without tiers,
    # the whole log is local, and nothing is tiered or pending upload.
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


class FoundOffset(NamedTuple):
    """The timestamp, offset and leader epoch of a record. The timestamp is -1 for all special
    timestamps but MAX_TIMESTAMP."""

    timestamp: int
    offset: int
    leader_epoch: int | None


NOTHING_TIERED = FoundOffset(NO_TIMESTAMP, -1, -1)


class BatchSearch(NamedTuple):
    """A batch that may hold the first record at or after `start_offset` with `timestamp` or a later
    one. Can be pickled."""

    batch: bytes
    timestamp: int
    start_offset: int

    def run(self, *, bytes_max: int = DECOMPRESSED_BYTES_MAX) -> TimestampOffset | None:
        """Raises `ProtocolError` if the batch cannot be read up to the record."""
        header = read_header(self.batch)
        body = read_body(self.batch, 0, header, decompressed_bytes_max=bytes_max)
        has_deltas = header.timestamp_type is not TimestampType.LOG_APPEND_TIME
        base = header.base_timestamp if has_deltas else header.max_timestamp
        for _, _, delta, offset_delta, _, _, _ in walk_records(body, header.record_count):
            timestamp, offset = base + delta * has_deltas, header.base_offset + offset_delta
            if timestamp >= self.timestamp and offset >= self.start_offset:
                return TimestampOffset(timestamp, offset)
        return None

    def run_inline(self) -> TimestampOffset | None:
        """As `run`, for the event loop. Raises `OutputTooLargeError` if the batch would take too
        long."""
        header = read_header(self.batch)
        if header.record_count > _INLINE_RECORDS_MAX:
            raise OutputTooLargeError(f"{header.record_count} records are too many at once")
        return self.run(bytes_max=_INLINE_BYTES_MAX)


OffsetLookup: TypeAlias = Generator[BatchSearch, TimestampOffset | None, FoundOffset | None]


def offset_lookup(log: Log, timestamp: int) -> OffsetLookup:
    """Finds the first record at or after `timestamp`, or resolves a special timestamp.

    Returns None if there is no such record. The result ignores isolation: the caller compares it
    with the high watermark or the last stable offset. The log may change between steps.
    """
    if timestamp == SpecialTimestamp.LATEST:
        return FoundOffset(NO_TIMESTAMP, log.log_end_offset, log.epochs.latest_epoch)
    if timestamp in (SpecialTimestamp.EARLIEST, SpecialTimestamp.EARLIEST_LOCAL):
        epoch = log.epochs.epoch_for_offset(log.log_start_offset)
        return FoundOffset(NO_TIMESTAMP, log.log_start_offset, epoch)
    if timestamp in (SpecialTimestamp.LATEST_TIERED, SpecialTimestamp.EARLIEST_PENDING_UPLOAD):
        return NOTHING_TIERED
    start = log.log_start_offset
    if timestamp == SpecialTimestamp.MAX_TIMESTAMP:
        latest = max(log.segments, key=_latest_timestamp)
        timestamp = _latest_timestamp(latest)
        if timestamp == NO_TIMESTAMP:
            return None
        start = max(start, latest.base_offset)
    while (located := _next_batch(log, timestamp, start)) is not None:
        header, batch = located
        found = yield BatchSearch(batch, timestamp, start)
        if found is not None:
            epoch = header.leader_epoch
            return FoundOffset(found.timestamp, found.offset, epoch if epoch >= 0 else None)
        start = header.next_offset
    return None


def find_offset(log: Log, timestamp: int) -> FoundOffset | None:
    """Runs the whole lookup in one call, however long it takes."""
    lookup = offset_lookup(log, timestamp)
    try:
        search = next(lookup)
        while True:
            search = lookup.send(search.run())
    except StopIteration as end:
        found: FoundOffset | None = end.value
        return found


def _next_batch(log: Log, timestamp: int, start_offset: int) -> tuple[BatchHeader, bytes] | None:
    for segment in log.segments.starting_with(start_offset):
        if _latest_timestamp(segment) >= timestamp:
            located = segment.locate_timestamp(timestamp, start_offset=start_offset)
            if located is not None:
                position, header = located
                return header, segment.log_file.read_at(position, header.size_in_bytes)
    return None


def _latest_timestamp(segment: Segment) -> int:
    return segment.max_timestamp.timestamp
