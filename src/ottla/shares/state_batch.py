"""Ranges of offsets with their delivery state, as the share coordinator stores them.

A list of batches is sorted and has no overlaps. Adjacent batches with the same state are one batch.
Where a new batch overlaps older ones, the higher delivery count applies, and then the higher state:
a write that arrives late takes nothing back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple


class StateBatch(NamedTuple):
    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int

    @property
    def rank(self) -> tuple[int, int]:
        return self.delivery_count, self.delivery_state


def merge_batches(batches: list[StateBatch], new: Iterable[StateBatch]) -> None:
    """Adds the new batches to the list in place. The cost depends on the overlapped batches."""
    for batch in new:
        _merge(batches, batch)


def prune_batches(batches: list[StateBatch], start_offset: int) -> None:
    """Removes what is below the start offset, in place."""
    if start_offset < 0 or not batches or batches[0].first_offset >= start_offset:
        return
    end = bisect_left(batches, start_offset, key=lambda batch: batch.last_offset)
    del batches[:end]
    if batches and batches[0].first_offset < start_offset:
        batches[0] = batches[0]._replace(first_offset=start_offset)


def _merge(batches: list[StateBatch], new: StateBatch) -> None:
    # The neighbors on both sides are included, because they may have the same state.
    low = bisect_left(batches, new.first_offset - 1, key=lambda batch: batch.last_offset)
    high = low
    while high < len(batches) and batches[high].first_offset <= new.last_offset + 1:
        high += 1
    merged: list[StateBatch] = []
    at = new.first_offset
    for old in batches[low:high]:
        if old.first_offset < new.first_offset:
            last = min(old.last_offset, new.first_offset - 1)
            _put(merged, old._replace(last_offset=last))
        if at < old.first_offset:
            last = min(old.first_offset - 1, new.last_offset)
            if at <= last:
                _put(merged, new._replace(first_offset=at, last_offset=last))
                at = last + 1
        first, last = max(old.first_offset, at), min(old.last_offset, new.last_offset)
        if first <= last:
            winner = old if old.rank > new.rank else new
            _put(merged, winner._replace(first_offset=first, last_offset=last))
            at = last + 1
        if old.last_offset > new.last_offset:
            if at <= new.last_offset:
                _put(merged, new._replace(first_offset=at))
                at = new.last_offset + 1
            first = max(old.first_offset, new.last_offset + 1)
            _put(merged, old._replace(first_offset=first))
    if at <= new.last_offset:
        _put(merged, new._replace(first_offset=at))
    batches[low:high] = merged


def _put(merged: list[StateBatch], batch: StateBatch) -> None:
    if merged:
        last = merged[-1]
        if last.rank == batch.rank and last.last_offset + 1 == batch.first_offset:
            merged[-1] = last._replace(last_offset=batch.last_offset)
            return
    merged.append(batch)
