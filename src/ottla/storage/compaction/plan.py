"""Decides whether a log is due for compaction, and collects everything that the compaction needs.

The rules are those of Kafka's cleaner. Clean is what an earlier compaction has covered. Dirty is
everything after that. Uncleanable are the active segment, everything above the last stable offset,
and segments younger than `min.compaction.lag.ms`.

    log start ... clean ... first_dirty_offset ... dirty ... end_offset ... uncleanable

Only whole segments are cleaned, so `end_offset` is the base offset of a segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.log.log import Log
from ottla.storage.log_config import NEVER_MS, LogConfig
from ottla.storage.segments.segment import Segment

# Kafka's log.cleaner.dedupe.buffer.size.
MEMORY_BYTES: Final = 128 << 20


class PlannedSegment(NamedTuple):
    """A segment at planning time. If it has changed by `swap_in`, the result is discarded."""

    base_offset: int
    # The next segment's base offset.
    end_offset: int
    size: int
    created_ms: int


class LastBatch(NamedTuple):
    """A producer's last data batch in its current epoch. Without one, only the epoch of its last
    marker."""

    last_offset: int | None
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """Can be pickled, so the compaction may run in any process."""

    directory: str
    config: LogConfig
    # Every segment that may be cleaned, from the log's first segment on.
    segments: tuple[PlannedSegment, ...]
    # Base offsets of segments, among these and later ones, that may not be on the device yet.
    unsynced_segments: tuple[int, ...]
    first_dirty_offset: int
    aborted_transactions: tuple[AbortedTransaction, ...]
    last_batches: dict[int, LastBatch]
    now_ms: int
    memory_bytes: int
    bytes_per_second: float | None
    # `Log.truncations` at planning time. The result is invalid if the log was truncated since.
    truncations: int

    @property
    def end_offset(self) -> int:
        return self.segments[-1].end_offset


def plan_compaction(
    log: Log,
    *,
    first_dirty_offset: int,
    now_ms: int,
    memory_bytes: int = MEMORY_BYTES,
    bytes_per_second: float | None = None,
) -> CompactionPlan | None:
    """Returns the plan, or None if the log is not due. `first_dirty_offset` comes from
    `CleanerOffsets`."""
    if not log.config.compact:
        return None
    end_offset = _end_offset(log, first_dirty_offset, now_ms)
    if not _is_due(log, first_dirty_offset, end_offset, now_ms):
        return None
    segments = log.segments.between(log.segments.first.base_offset, end_offset)
    unsynced = log.segments.starting_with(log.recovery_point)
    return CompactionPlan(
        directory=log.directory,
        config=log.config,
        segments=tuple(
            PlannedSegment(
                segment.base_offset,
                log.segments.end_offset(segment, log.log_end_offset),
                segment.size,
                segment.created_ms,
            )
            for segment in segments
        ),
        unsynced_segments=tuple(segment.base_offset for segment in unsynced),
        first_dirty_offset=first_dirty_offset,
        aborted_transactions=tuple(
            log.aborted_transactions(
                fetch_offset=log.segments.first.base_offset, upper_bound_offset=end_offset
            )
        ),
        last_batches={
            producer.producer_id: LastBatch(
                producer.last_data_offset if producer.batches else None, producer.producer_epoch
            )
            for producer in log.producers.state.entries.values()
        },
        now_ms=now_ms,
        memory_bytes=memory_bytes,
        bytes_per_second=bytes_per_second,
        truncations=log.truncations,
    )


def _end_offset(log: Log, first_dirty_offset: int, now_ms: int) -> int:
    """The base offset of the first uncleanable segment."""
    active_offset = log.segments.active.base_offset
    limit = max(first_dirty_offset, min(log.last_stable_offset, active_offset))
    for segment in _dirty_segments(log, first_dirty_offset, limit):
        if _is_young(segment, log.config, now_ms):
            limit = max(first_dirty_offset, segment.base_offset)
            break
    holding = log.segments.containing(limit)
    assert holding is not None, f"{log} has no offset {limit}"
    return holding.base_offset


def _is_young(segment: Segment, config: LogConfig, now_ms: int) -> bool:
    if config.min_compaction_lag_ms <= 0:
        return False
    latest = segment.max_timestamp.timestamp
    stamped = latest if latest >= 0 else segment.created_ms
    return stamped > now_ms - config.min_compaction_lag_ms


def _is_due(log: Log, first_dirty_offset: int, end_offset: int, now_ms: int) -> bool:
    """Whether the dirty part is large enough or old enough."""
    dirty_segments = _dirty_segments(log, first_dirty_offset, end_offset)
    dirty_bytes = sum(segment.size for segment in dirty_segments)
    if not dirty_bytes:
        return False
    clean_bytes = sum(
        segment.size for segment in log.segments if segment.base_offset < first_dirty_offset
    )
    ratio = dirty_bytes / (clean_bytes + dirty_bytes)
    return ratio > log.config.min_cleanable_dirty_ratio or _has_waited(
        log, first_dirty_offset, now_ms
    )


def _has_waited(log: Log, first_dirty_offset: int, now_ms: int) -> bool:
    """Whether a dirty segment began more than `max.compaction.lag.ms` ago."""
    lag_ms = log.config.max_compaction_lag_ms
    if lag_ms == NEVER_MS:
        return False
    return any(
        0 < segment.read_first_timestamp() < now_ms - max(lag_ms, 0)
        for segment in _dirty_segments(log, first_dirty_offset, log.segments.active.base_offset)
        if segment.size
    )


def _dirty_segments(log: Log, start: int, end: int) -> list[Segment]:
    """The segments of `start` to below `end`; the first of them may be partly clean."""
    return log.segments.between(start, end) if start < end else []
