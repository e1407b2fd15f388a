"""Partitions that a fetcher does not fetch for a while, after an error or because of a throttle."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

from ottla.channels.fetch_session import PartitionKey
from ottla.replication.fetched_partition import FetchedPartition


class _Entry(NamedTuple):
    until: float
    sequence: int
    fetched: FetchedPartition


class RestingPartitions:
    """Times are monotonic seconds."""

    __slots__ = ("_calendar", "_resting", "_sequence")

    def __init__(self) -> None:
        self._resting: dict[PartitionKey, FetchedPartition] = {}
        # Discarded partitions stay in it until their time is over.
        self._calendar: list[_Entry] = []
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._resting)

    def __contains__(self, key: PartitionKey) -> bool:
        return key in self._resting

    def add(self, fetched: FetchedPartition, *, until: float) -> None:
        self._resting[fetched.key] = fetched
        self._sequence += 1
        heapq.heappush(self._calendar, _Entry(until, self._sequence, fetched))

    def discard(self, key: PartitionKey) -> None:
        self._resting.pop(key, None)

    @property
    def next_end(self) -> float | None:
        """When the next partition may have rested; None if none rests."""
        return self._calendar[0].until if self._calendar else None

    def take_rested(self, now: float) -> Iterator[FetchedPartition]:
        while self._calendar and self._calendar[0].until <= now:
            fetched = heapq.heappop(self._calendar).fetched
            if self._resting.get(fetched.key) is fetched:
                del self._resting[fetched.key]
                yield fetched
