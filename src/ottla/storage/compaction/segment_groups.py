"""Which segments become one: neighbours, as long as together they are no larger than one may be.

Compaction makes segments small. Without this a log would end as a heap of tiny files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.storage.compaction.plan import PlannedSegment
from ottla.storage.log_config import LogConfig
from ottla.storage.offset_index import RELATIVE_OFFSET_MAX


class SizedSegment(NamedTuple):
    """A segment with the bytes of its indexes."""

    segment: PlannedSegment
    index_size: int
    time_index_size: int


def group_segments(
    segments: Iterable[SizedSegment], config: LogConfig
) -> list[list[PlannedSegment]]:
    """The segments in order, in groups. Sizes are those from before compaction: what comes out of
    a group is no larger."""
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
            and segment.end_offset - 1 - groups[-1][0].base_offset <= RELATIVE_OFFSET_MAX
        )
        if fits:
            groups[-1].append(segment)
        else:
            groups.append([segment])
            size, index_size = segment.size, own_index_size
            time_index_size = own_time_index_size
    return groups
