"""What a fetch asks of a partition, and what it finds."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ottla.storage.epochs.epoch_cache import EpochEnd
from ottla.storage.files.file_slice import FileSlice
from ottla.storage.indexes.transaction_index import AbortedTransaction


class Isolation(IntEnum):
    """Which records a reader may see, as Fetch and ListOffsets number it."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class PartitionRead(NamedTuple):
    """Records, None where there is nothing yet, and the offsets around them.

    A follower whose log has gone another way gets no records but where its last epoch ended here.
    """

    records: FileSlice | None
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted_transactions: list[AbortedTransaction] | None
    diverging_epoch: EpochEnd | None = None


class FetchingFollower(NamedTuple):
    """Who fetches to replicate: a node, and which incarnation of it (KIP-903; -1 if not said)."""

    node_id: int
    broker_epoch: int


class ReadReplica(NamedTuple):
    """An in-sync follower that a consumer may read from (KIP-392)."""

    node_id: int
    log_end_offset: int
    caught_up_ms_ago: int
