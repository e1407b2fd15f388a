"""Offsets by time: what ListOffsets asks of a log, its special timestamps included.

Headers say which batch a timestamp may be in, and its records have to be read to know. A batch can
be large, above all when it is decompressed, so who looks up decides where each batch is searched:
`offset_lookup` is a generator that hands out one `BatchSearch` after the other, and is sent what
was found.
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

# What an event loop has time for: two milliseconds by the slowest codec, and by the record.
_INLINE_RECORDS_MAX: Final = 2_000
_INLINE_BYTES_MAX: Final = 256 * 1024


class SpecialTimestamp(IntEnum):
    """Timestamps that no record has, by which ListOffsets asks for something else."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    # The rest tell local from tiered storage (KIP-405, KIP-1005, KIP-1023). Without tiers the whole
    # log is local and nothing is tiered or waits to be.
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


class FoundOffset(NamedTuple):
    """A record's timestamp (-1 where a place and not a record was asked for), offset and epoch."""

    timestamp: int
    offset: int
    leader_epoch: int | None


NOTHING_TIERED = FoundOffset(NO_TIMESTAMP, -1, -1)


class BatchSearch(NamedTuple):
    """A batch that may hold the record: the first from `start_offset` on that is not earlier than
    `timestamp`. Can be pickled."""

    batch: bytes
    timestamp: int
    start_offset: int

    def run(self, *, bytes_max: int = DECOMPRESSED_BYTES_MAX) -> TimestampOffset | None:
        """Raises `ProtocolError` for a batch that cannot be read up to the record."""
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
        """The same if it takes no longer than an event loop can wait; `OutputTooLargeError` if it
        would."""
        header = read_header(self.batch)
        if header.record_count > _INLINE_RECORDS_MAX:
            raise OutputTooLargeError(f"{header.record_count} records are too many at once")
        return self.run(bytes_max=_INLINE_BYTES_MAX)


OffsetLookup: TypeAlias = Generator[BatchSearch, TimestampOffset | None, FoundOffset | None]


def offset_lookup(log: Log, timestamp: int) -> OffsetLookup:
    """The first record that is not earlier than `timestamp`, or what a special one stands for.

    None where there is no such record. Nothing here knows of isolation: the caller holds the
    answer against the high watermark or the last stable offset. The log may change between steps.
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
    """The lookup as one call, however long it takes."""
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
