"""Groups adjacent segments that together fit into one.

Compaction shrinks segments. Without grouping, a log would end up with many tiny files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.storage.compaction.plan import PlannedSegment
from ottla.storage.indexes.offset_index import RELATIVE_OFFSET_MAX
from ottla.storage.log_config import LogConfig


class SizedSegment(NamedTuple):
    """A segment and the sizes of its indexes in bytes."""

    segment: PlannedSegment
    index_size: int
    time_index_size: int


def group_segments(
    segments: Iterable[SizedSegment], config: LogConfig
) -> list[list[PlannedSegment]]:
    """Groups the segments in order. The sizes before compaction are the upper bound."""
    groups: list[list[PlannedSegment]] = []
    size = index_size = time_index_size = 0
    for segment, own_index_size, own_time_index_size in segments:
        size += segment.size
        index_size += own_index_size
        time_index_size += own_time_index_size
        fits = (
            bool(groups)
            and size <= config.segment_bytes
            and index_size <= config.segment_index_bytes
            and time_index_size <= config.segment_index_bytes
            and (not segment.size or _can_hold(groups[-1][0], segment.end_offset - 1))
        )
        if fits:
            groups[-1].append(segment)
        else:
            groups.append([segment])
            size, index_size = segment.size, own_index_size
            time_index_size = own_time_index_size
    return groups


def _can_hold(first: PlannedSegment, offset: int) -> bool:
    return offset - first.base_offset <= RELATIVE_OFFSET_MAX
