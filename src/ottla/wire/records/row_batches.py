"""Rows of columns sorted by partition and cut into batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from ottla.model import Buffer
from ottla.wire.records.compiled import Int64s
from ottla.wire.records.header import HEADER_BYTES
from ottla.wire.records.record_bodies import Payloads, encode_bodies


class UnsealedBatch(NamedTuple):
    """Encoded records for the partition `target` of their topic. The timestamps are None if the
    records have that of their batch."""

    target: int
    record_count: int
    body: Buffer
    base_timestamp: int | None = None
    max_timestamp: int | None = None


# Limits an offset delta to three bytes as a varint.
_RECORDS_MAX: Final = 2**20
_RADIX_SORTED_MAX: Final = 2**15


def cut_batches(
    payloads: Payloads, targets: Int64s, sizes: Int64s, *, batch_bytes_max: int
) -> Iterator[UnsealedBatch]:
    """Yields batches of all rows, in their original order within each partition (target). `sizes`
    are upper bounds; a batch exceeds the limit only if it has a single record."""
    rows = np.arange(len(targets))
    if np.any(targets[1:] != targets[:-1]):
        narrow = targets.astype(np.int16) if targets.max() < _RADIX_SORTED_MAX else targets
        rows = np.argsort(narrow, kind="stable")
        targets, sizes = targets[rows], sizes[rows]
    edges = _edges(targets, sizes, batch_bytes_max - HEADER_BYTES)
    bodies = encode_bodies(payloads, rows, edges, bytes_max=int(sizes.sum()))
    times = payloads.timestamps
    for first, last, body in zip(edges[:-1].tolist(), edges[1:].tolist(), bodies, strict=True):
        base = highest = None
        if times is not None:
            base, highest = int(times[rows[first]]), int(times[rows[first:last]].max())
        yield UnsealedBatch(int(targets[first]), last - first, body, base, highest)


def _edges(targets: Int64s, sizes: Int64s, bytes_max: int) -> Int64s:
    """The row index at which each batch begins, and the end of the last one."""
    ends = np.cumsum(sizes)
    runs = [*(np.flatnonzero(np.diff(targets)) + 1).tolist(), len(targets)]
    edges = [0]
    for run_end in runs:
        while (start := edges[-1]) < run_end:
            room = int(ends[start] - sizes[start]) + bytes_max
            fitting = int(np.searchsorted(ends, room, "right"))
            edges.append(min(max(fitting, start + 1), start + _RECORDS_MAX, run_end))
    return np.array(edges, np.int64)
