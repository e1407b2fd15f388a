"""Chooses the segments that retention may remove, from the configuration and the time. Removes
nothing itself.

Segments are removed from the start of the log, and only below the high watermark, because followers
still need uncommitted records. The active segment goes too once all of it has expired; the log
rolls first, so that there is always an active segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ottla.storage.log_config import UNLIMITED, LogConfig
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segments import Segments


def expired_segments(
    segments: Segments,
    config: LogConfig,
    *,
    now_ms: int,
    log_start_offset: int,
    log_end_offset: int,
    high_watermark: int,
    kept_from: int | None = None,
) -> list[Segment]:
    """The segments at the start of the log that retention by time, by size or DeleteRecords has
    expired. Time and size expire nothing from `kept_from` on."""

    def below_log_start(segment: Segment) -> bool:
        return segments.end_offset(segment, log_end_offset) <= log_start_offset

    def too_old(segment: Segment) -> bool:
        latest = segment.max_timestamp.timestamp
        stamped = latest if latest >= 0 else segment.created_ms
        return now_ms - stamped > config.retention_ms

    surplus = segments.size - config.retention_bytes

    def too_much(segment: Segment) -> bool:
        nonlocal surplus
        if surplus < segment.size:
            return False
        surplus -= segment.size
        return True

    rules: list[tuple[Callable[[Segment], bool], int]] = [(below_log_start, high_watermark)]
    end = high_watermark if kept_from is None else min(kept_from, high_watermark)
    if config.delete and config.retention_ms != UNLIMITED:
        rules.append((too_old, end))
    if config.delete and config.retention_bytes != UNLIMITED:
        rules.append((too_much, end))
    longest: list[Segment] = []
    for rule, limit in rules:
        expired = list(_leading(segments, rule, log_end_offset, limit))
        longest = max(longest, expired, key=len)
    return longest


def _leading(
    segments: Segments,
    is_expired: Callable[[Segment], bool],
    log_end_offset: int,
    end_max: int,
) -> Iterator[Segment]:
    for segment in segments:
        if segments.end_offset(segment, log_end_offset) > end_max:
            return
        if segment is segments.active and not segment.size:
            return
        if not is_expired(segment):
            return
        yield segment
