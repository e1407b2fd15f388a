"""The state of one producer on one partition: detects duplicates, sequence gaps and fenced epochs.

The last five batches are kept because an idempotent client has at most five requests in flight and
may resend any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from ottla.model import NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP
from ottla.wire.records.header import BatchHeader

BATCHES_RETAINED_MAX: Final = 5
SEQUENCE_MAX: Final = 2**31 - 1
NO_COORDINATOR_EPOCH: Final = -1
NO_OFFSET: Final = -1


class BatchMetadata(NamedTuple):
    """An appended batch: what the response to its duplicate contains."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return (self.last_sequence - self.offset_delta) & SEQUENCE_MAX

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


# Skips the constructor call, which every batch of an idempotent producer would pay for.
_new_known: Callable[[type[BatchMetadata], tuple[int, ...]], BatchMetadata] = tuple.__new__


class ProducerEntry:
    """One producer on one partition. Its `ProducerState` owns it and changes it in place."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "current_txn_first_offset",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
    )

    def __init__(
        self,
        producer_id: int,
        *,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        coordinator_epoch: int = NO_COORDINATOR_EPOCH,
        last_timestamp: int = NO_TIMESTAMP,
        current_txn_first_offset: int | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp = last_timestamp
        self.current_txn_first_offset = current_txn_first_offset
        # Oldest first, all of the current producer epoch.
        self.batches: list[BatchMetadata] = []

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    @property
    def last_offset_delta(self) -> int:
        return self.batches[-1].offset_delta if self.batches else 0

    def is_in_transaction(self, producer_epoch: int) -> bool:
        return self.current_txn_first_offset is not None and self.producer_epoch == producer_epoch

    def find_duplicate(self, batch: BatchHeader) -> BatchMetadata | None:
        """The kept batch with exactly these sequence numbers, if there is one."""
        if batch.producer_epoch != self.producer_epoch:
            return None
        first, last = batch.base_sequence, batch.last_sequence
        for known in self.batches:
            if known.last_sequence == last and known.first_sequence == first:
                return known
        return None

    def follows(self, batch: BatchHeader) -> bool:
        """Whether the batch's first sequence number directly follows the last one."""
        if batch.producer_epoch != self.producer_epoch:
            return batch.base_sequence == 0
        last = self.batches[-1].last_sequence if self.batches else NO_SEQUENCE
        return batch.base_sequence == (0 if last == SEQUENCE_MAX else last + 1)

    def add_batch(self, batch: BatchHeader, base_offset: int) -> None:
        if batch.producer_epoch != self.producer_epoch:
            self._become_epoch(batch.producer_epoch)
        batches = self.batches
        if len(batches) == BATCHES_RETAINED_MAX:
            del batches[0]
        delta, timestamp = batch.last_offset_delta, batch.max_timestamp
        known = (batch.last_sequence, base_offset + delta, delta, timestamp)
        batches.append(_new_known(BatchMetadata, known))
        self.last_timestamp = timestamp

    def add_earlier(self, batches: Iterable[BatchMetadata]) -> None:
        """Adds batches of the same epoch that precede those already kept."""
        if self.batches:
            known = self.batches[0].first_offset
            batches = [batch for batch in batches if batch.last_offset < known]
        self.batches = [*batches, *self.batches][-BATCHES_RETAINED_MAX:]

    def end_transaction(
        self, *, producer_epoch: int, coordinator_epoch: int, timestamp: int
    ) -> None:
        if producer_epoch != self.producer_epoch:
            self._become_epoch(producer_epoch)
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = None
        self.last_timestamp = timestamp

    def _become_epoch(self, producer_epoch: int) -> None:
        """A new epoch restarts the sequence numbers, so the kept batches no longer apply."""
        self.batches.clear()
        self.producer_epoch = producer_epoch
