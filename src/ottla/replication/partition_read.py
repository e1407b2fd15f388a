"""Parameters and results of a read from a partition."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ottla.storage.epochs.epoch_cache import EpochEnd
from ottla.storage.files.file_slice import FileSlice, MemorySlice
from ottla.storage.indexes.transaction_index import AbortedTransaction


class Isolation(IntEnum):
    """The isolation level, numbered as in Fetch and ListOffsets."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class PartitionRead(NamedTuple):
    """The records (None if there are none yet) and the partition's offsets.

    A diverging follower gets `diverging_epoch`, the end of its last epoch in this log, and no
    records.
    """

    records: FileSlice | MemorySlice | None
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted_transactions: list[AbortedTransaction] | None
    diverging_epoch: EpochEnd | None = None


class FetchingFollower(NamedTuple):
    """A fetching follower: its node id and broker epoch (KIP-903; -1 if not sent)."""

    node_id: int
    broker_epoch: int


class ReadReplica(NamedTuple):
    """An in-sync follower that a consumer may read from (KIP-392)."""

    node_id: int
    log_end_offset: int
    caught_up_ms_ago: int
