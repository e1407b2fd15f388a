"""Offsets by time: what ListOffsets asks of a log, its special timestamps included."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ottla.model import NO_TIMESTAMP
from ottla.storage.log import Log
from ottla.storage.segment import Segment


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


def find_offset(log: Log, timestamp: int) -> FoundOffset | None:
    """The first record that is not earlier than `timestamp`, or what a special one stands for.

    None where there is no such record. Nothing here knows of isolation: the caller holds the
    answer against the high watermark or the last stable offset.
    """
    if timestamp == SpecialTimestamp.LATEST:
        return FoundOffset(NO_TIMESTAMP, log.log_end_offset, log.epochs.latest_epoch)
    if timestamp in (SpecialTimestamp.EARLIEST, SpecialTimestamp.EARLIEST_LOCAL):
        epoch = log.epochs.epoch_for_offset(log.log_start_offset)
        return FoundOffset(NO_TIMESTAMP, log.log_start_offset, epoch)
    if timestamp in (SpecialTimestamp.LATEST_TIERED, SpecialTimestamp.EARLIEST_PENDING_UPLOAD):
        return NOTHING_TIERED
    if timestamp == SpecialTimestamp.MAX_TIMESTAMP:
        latest = max(log.segments, key=_latest_timestamp)
        if _latest_timestamp(latest) == NO_TIMESTAMP:
            return None
        return _find_in(log, latest, _latest_timestamp(latest))
    for segment in log.segments:
        if _latest_timestamp(segment) >= timestamp:
            found = _find_in(log, segment, timestamp)
            if found is not None:
                return found
    return None


def _latest_timestamp(segment: Segment) -> int:
    return segment.max_timestamp.timestamp


def _find_in(log: Log, segment: Segment, timestamp: int) -> FoundOffset | None:
    found = segment.find_timestamp(timestamp, start_offset=log.log_start_offset)
    if found is None:
        return None
    record, epoch = found
    return FoundOffset(record.timestamp, record.offset, epoch if epoch >= 0 else None)
