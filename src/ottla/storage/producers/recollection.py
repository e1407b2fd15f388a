"""Restores from the log the batches that a producer snapshot does not contain.

A snapshot, in Kafka's format, has only the last batch of each producer. A client that had several
batches in flight when the node went down resends all of them, and the earlier ones would look out
of order although they are in the log. Kafka refuses them. Here the end of the log is searched the
first time that this happens.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.storage.indexes.offset_index import OffsetPosition
from ottla.storage.producers.producer_entry import BATCHES_RETAINED_MAX, BatchMetadata
from ottla.storage.segments.batch_scan import scan_headers
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segments import Segments
from ottla.wire.records.header import BatchHeader

# Covers what clients may have in flight, and takes a few milliseconds to scan.
_BYTES_MAX: Final = 4 << 20


class EpochOfProducer(NamedTuple):
    producer_id: int
    producer_epoch: int


def recent_batches(
    segments: Segments, *, below: int
) -> Mapping[EpochOfProducer, deque[BatchMetadata]]:
    """The last few batches of each producer below an offset, oldest first."""
    found: defaultdict[EpochOfProducer, deque[BatchMetadata]] = defaultdict(
        lambda: deque(maxlen=BATCHES_RETAINED_MAX)
    )
    for header in _last_headers(segments, below=below):
        producer = EpochOfProducer(header.producer_id, header.producer_epoch)
        found[producer].append(
            BatchMetadata(
                header.last_sequence,
                header.last_offset,
                header.last_offset_delta,
                header.max_timestamp,
            )
        )
    return found


def _last_headers(segments: Segments, *, below: int) -> list[BatchHeader]:
    headers: list[BatchHeader] = []
    bytes_left = _BYTES_MAX
    for segment in reversed(segments.between(segments.first.base_offset, below)):
        bound = segment.find(below)
        end = segment.size if bound is None else bound.position
        start = _indexed_position(segment, end - bytes_left)
        headers[:0] = [
            header
            for _, header in scan_headers(segment.log_file, start, end)
            if header.has_producer_id and not header.is_control
        ]
        bytes_left -= end - start
        if bytes_left <= 0:
            break
    return headers


def _indexed_position(segment: Segment, position: int) -> int:
    """The start of a batch, at the position or somewhat after it."""
    if position <= 0:
        return 0
    found = segment.offset_index.upper_bound(OffsetPosition(segment.base_offset, 0), size=position)
    return 0 if found is None else found.position
