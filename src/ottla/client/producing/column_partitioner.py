"""Chooses the partition of each row: the column `partition`, the key's hash, or a sticky partition.

Keys have the same partition as with Kafka's own producer. Rows without a key go to one partition
until they fill a batch and then to the next one, so batches are large even with many partitions.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ottla.wire.records.row_loops import hash_keys, to_column

Int64s: TypeAlias = npt.NDArray[np.int64]

_POSITIVE: Final = 0x7FFFFFFF
_NOT_GIVEN: Final = -1


class ColumnPartitioner:
    """The partitioner of one topic in one task. `first` is the first partition for rows without a
    key; it differs between tasks, so that they do not all load the same partition."""

    def __init__(self, *, first: int, batch_bytes: int) -> None:
        self._first = first
        self._batch_bytes = batch_bytes
        self._bytes_without_key = 0

    def partitions(
        self, keys: pa.Array, given: pa.Array | None, sizes: Int64s, *, count: int
    ) -> Int64s:
        """The partition of each row. Partitions in `given` are not checked."""
        has_key = keys.is_valid().to_numpy(zero_copy_only=False)
        chosen = np.full(len(keys), _NOT_GIVEN, np.int64)
        if given is not None:
            chosen = pc.fill_null(given, _NOT_GIVEN).to_numpy().astype(np.int64)
        is_open = np.ones(len(keys), np.bool_)
        if given is not None:
            is_open = given.is_null().to_numpy(zero_copy_only=False)
        by_key = is_open & has_key
        if by_key.any():
            hashes = np.empty(len(keys), np.uint32)
            hash_keys(to_column(keys), hashes)
            chosen = np.where(by_key, (hashes & _POSITIVE) % count, chosen)
        rest = np.flatnonzero(is_open & ~has_key)
        if rest.size:
            ends = self._bytes_without_key + np.cumsum(sizes[rest])
            starts = ends - sizes[rest]
            chosen[rest] = (self._first + starts // self._batch_bytes) % count
            self._bytes_without_key = int(ends[-1])
        return chosen
