"""The memory of locked records: as members lock them, and in the worst order."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Final

from benchmarks.figure import Figure
from benchmarks.versus.comparison import Bound
from ottla.shares.delivery import BatchOffsets, Wish
from ottla.shares.delivery_settings import DeliverySettings
from ottla.shares.share_partition import SharePartition

RECORDS: Final = 1_000_000
# Tracing is slow: a part is measured.
_PART: Final = 10
# Of a fetch of the usual size, and of one record: neighbors with one state are one run.
_FETCHED: Final = 500
_MB: Final = 1_000_000
_BOUND_MB: Final = {_FETCHED: 1.0, 1: 300.0}
# The default of share.partition.max.record.locks: no partition holds more.
_LOCKS_MAX: Final = 2_000


def figures() -> Iterator[Figure]:
    for size, bound_mb in _BOUND_MB.items():
        bound = Bound(value_max=bound_mb)
        megabytes = _bytes_of(size) / _MB
        yield Figure(
            f"a million locked records, {size} at a time",
            megabytes,
            "MB",
            bound=bound.text("MB"),
            holds=bound.holds(megabytes, None),
        )


def _bytes_of(size: int) -> int:
    settings = DeliverySettings(locks_max=_LOCKS_MAX)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        partitions = [_locked(settings, size) for _ in range(RECORDS // _PART // _LOCKS_MAX)]
        after, _ = tracemalloc.get_traced_memory()
        assert sum(each.in_flight for each in partitions) * _PART == RECORDS
        return (after - before) * _PART
    finally:
        tracemalloc.stop()


def _locked(settings: DeliverySettings, size: int) -> SharePartition:
    """A partition with as many locked records as it may have, by members in turn."""
    machine = SharePartition(lambda: settings, start_offset=0, batches=(), now=0)
    for first in range(0, _LOCKS_MAX, size):
        wish = Wish(("one", "other")[first // size % 2], size, is_strict=True)
        span = BatchOffsets(first, first + size - 1)
        machine.acquire(wish, [span], fetch_offset=first, now=0)
    return machine
