"""Rows sorted by partition and cut into batches, and the batches sealed for the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ottla.model import NO_LEADER_EPOCH, Offset, ProducerEpoch, ProducerId, TimestampMs
from ottla.pipeline.sink.record_bodies import Payloads, encode_bodies
from ottla.wire.records.builder import seal_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import HEADER_BYTES, MAGIC, BatchHeader, encode_attributes

Int64s: TypeAlias = npt.NDArray[np.int64]

# So that an offset in its batch takes three bytes at most.
_RECORDS_MAX: Final = 2**20
_RADIX_SORTED_MAX: Final = 2**15


class UnsealedBatch(NamedTuple):
    """Records of one partition. `target` is its number among the partitions that rows went to."""

    target: int
    record_count: int
    body: memoryview


class Seal(NamedTuple):
    """What a batch says of its producer, and how it is compressed."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    base_sequence: int
    is_transactional: bool
    timestamp: TimestampMs
    codec: Codec
    compression_level: int | None


def cut_batches(
    payloads: Payloads, targets: Int64s, sizes: Int64s, *, batch_bytes_max: int
) -> Iterator[UnsealedBatch]:
    """All rows, in the order in which they are within each target. `sizes` are the most that the
    rows take; no batch takes more than the limit, unless it is of one record."""
    if np.any(targets[1:] != targets[:-1]):
        narrow = targets.astype(np.int16) if targets.max() < _RADIX_SORTED_MAX else targets
        order = np.argsort(narrow, kind="stable")
        payloads, targets, sizes = payloads.take(order), targets[order], sizes[order]
    edges = _edges(targets, sizes, batch_bytes_max - HEADER_BYTES)
    counts = np.diff(edges)
    bodies = encode_bodies(payloads, np.arange(len(targets)) - np.repeat(edges[:-1], counts))
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield UnsealedBatch(int(targets[first]), last - first, bodies.between(first, last))


def seal(batch: UnsealedBatch, how: Seal) -> bytearray:
    """As `build_batch` would have it."""
    header = BatchHeader(
        base_offset=Offset(0),
        batch_length=0,
        leader_epoch=NO_LEADER_EPOCH,
        magic=MAGIC,
        crc=0,
        attributes=encode_attributes(codec=how.codec, is_transactional=how.is_transactional),
        last_offset_delta=batch.record_count - 1,
        base_timestamp=how.timestamp,
        max_timestamp=how.timestamp,
        producer_id=how.producer_id,
        producer_epoch=how.producer_epoch,
        base_sequence=how.base_sequence,
        record_count=batch.record_count,
    )
    return seal_batch(header, batch.body, compression_level=how.compression_level)


def _edges(targets: Int64s, sizes: Int64s, bytes_max: int) -> Int64s:
    """Where batches begin, and the end of the last."""
    ends = np.cumsum(sizes)
    runs = [*(np.flatnonzero(np.diff(targets)) + 1).tolist(), len(targets)]
    edges = [0]
    for run_end in runs:
        while (start := edges[-1]) < run_end:
            room = int(ends[start] - sizes[start]) + bytes_max
            fitting = int(np.searchsorted(ends, room, "right"))
            edges.append(min(max(fitting, start + 1), start + _RECORDS_MAX, run_end))
    return np.array(edges, np.int64)
