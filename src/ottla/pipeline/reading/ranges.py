"""The offset ranges that tasks read, and the limit of records per trigger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from ottla.model import TopicPartition
from ottla.pipeline.reading.positions import PerPartition


class OffsetRange(NamedTuple):
    """The offsets of a partition from `start` up to, but not including, `end`."""

    partition: TopicPartition
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def split(
    ranges: Sequence[OffsetRange], *, partitions_min: int | None, records_max: int | None
) -> list[OffsetRange]:
    """Splits the ranges, in order, into about `partitions_min` pieces or more, none of which has
    more than `records_max` offsets.

    A pure function of the offsets: a batch that is read again is split the same way.
    """
    ranges = [each for each in ranges if each.size > 0]
    total = sum(each.size for each in ranges)
    pieces = []
    for each in ranges:
        count = 1
        if records_max is not None:
            count = ceil(each.size / records_max)
        if partitions_min is not None and partitions_min > len(ranges):
            count = max(count, round(each.size / total * partitions_min))
        pieces += _cut(each, min(count, each.size))
    return pieces


def _cut(whole: OffsetRange, count: int) -> list[OffsetRange]:
    edges = [whole.start + whole.size * index // count for index in range(count + 1)]
    return [OffsetRange(whole.partition, start, end) for start, end in pairwise(edges)]


def limit(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], *, records_max: int
) -> PerPartition:
    """End offsets that limit a batch to about `records_max` records, in proportion to what each
    partition has. A partition with new records gets at least one, so that none starves."""
    sizes = {partition: end[partition] - start.get(partition, 0) for partition in end}
    total = sum(size for size in sizes.values() if size > 0)
    if total <= records_max:
        return dict(end)
    limited = {}
    for partition, size in sizes.items():
        if size <= 0:
            limited[partition] = end[partition]
            continue
        share = records_max * size / total
        taken = ceil(share) if share < 1 else int(share)
        limited[partition] = start.get(partition, 0) + min(taken, size)
    return limited
