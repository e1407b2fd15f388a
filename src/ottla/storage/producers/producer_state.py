"""The producer state of a partition, for idempotence and transactions.

A leader checks a batch before it appends it (`check_client_batch`, `check_coordinator_batch`,
`check_marker`) and updates the state afterwards (`update`, `update_marker`), so a failed append
changes nothing. Followers and replays only update, because the leader has checked. After a marker
the caller writes the transaction index and then calls `complete`. If that write fails, the last
stable offset does not advance, instead of exposing an aborted transaction that the index lacks.

A batch that opens a transaction has to be verified first (verification.py): its coordinator
confirms that the partition is in the transaction. Otherwise a late batch could open a transaction
that never ends.

Nothing here touches the disk; producer_snapshot.py does. The rules are Kafka's: sequence numbers
and epochs from KIP-98, verification and stricter marker epochs from KIP-890.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NoReturn

from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.model.ids import ONE_TIME_PRODUCER_ID_MIN
from ottla.storage.producers.producer_entry import BatchMetadata, ProducerEntry
from ottla.storage.producers.unstable_transactions import CompletedTransaction, UnstableTransactions
from ottla.storage.producers.verification import Verification
from ottla.wire.records.header import TRANSACTIONAL_FLAG, BatchHeader

TRANSACTION_VERSION_2: Final = 2
PRODUCER_EPOCH_MAX: Final = 2**15 - 1
ONE_TIME_PRODUCERS_MAX: Final = 20_000

_ONE_TIME: Final = ONE_TIME_PRODUCER_ID_MIN


class ProducerState:
    """The producers of one partition. Owned by its log; always reflects the log up to its end."""

    __slots__ = (
        "_entries",
        "_one_time",
        "_partition",
        "_verifications",
        "expiration_ms",
        "requires_verification",
        "unstable",
    )

    def __init__(self, partition: TopicPartition, *, producer_id_expiration_ms: int) -> None:
        self._partition = partition
        self.expiration_ms = producer_id_expiration_ms
        # Whether only verified batches may open a transaction.
        self.requires_verification = False
        self._entries: dict[int, ProducerEntry] = {}
        # Ids that a node derived from what it wrote, the oldest first.
        self._one_time: dict[int, None] = {}
        self.unstable = UnstableTransactions()
        # By producer id.
        self._verifications: dict[int, Verification] = {}

    @property
    def entries(self) -> Mapping[int, ProducerEntry]:
        """The producers by their id."""
        return MappingProxyType(self._entries)

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset that may still change for a read_committed consumer."""
        return self.unstable.first_unstable_offset

    @property
    def first_undecided_offset(self) -> int | None:
        """The first offset of the earliest transaction without a marker."""
        return self.unstable.first_undecided_offset

    def has_ongoing_transaction(self, *, producer_id: int, producer_epoch: int) -> bool:
        entry = self._entries.get(producer_id)
        return entry is not None and entry.is_in_transaction(producer_epoch)

    def start_verification(
        self,
        *,
        producer_id: int,
        producer_epoch: int,
        sequence: int,
        supports_epoch_bump: bool,
        now_ms: int,
    ) -> Verification | None:
        """Returns the verification to append a transactional batch with, once its coordinator has
        confirmed the transaction.

        Returns None if the transaction is already open on this partition. Raises if the producer is
        fenced.
        """
        entry = self._entries.get(producer_id)
        if entry is not None:
            self._check_epoch(entry, producer_epoch)
            if entry.is_in_transaction(producer_epoch):
                return None
        known = self._verifications.get(producer_id)
        if known is None:
            known = self._verifications[producer_id] = Verification(
                producer_epoch=producer_epoch,
                sequence=sequence,
                supports_epoch_bump=supports_epoch_bump,
                now_ms=now_ms,
            )
        else:
            known.meet(producer_epoch=producer_epoch, sequence=sequence)
        return known

    def check_client_batch(
        self, batch: BatchHeader, verification: Verification | None = None
    ) -> BatchMetadata | None:
        """Raises if the batch must not be appended. Returns the original if the batch is a
        duplicate.

        Accepts any sequence number from an unknown producer: its records were deleted, or its state
        has expired.
        """
        entry = self._entries.get(batch.producer_id)
        is_transactional = batch.attributes & TRANSACTIONAL_FLAG
        follows = entry is None or entry.follows(batch)
        if entry is not None:
            # The next batch in sequence is never a duplicate: the sequence numbers cannot wrap
            # around within five batches.
            if not follows and (duplicate := entry.find_duplicate(batch)) is not None:
                return duplicate
            if batch.producer_epoch < entry.producer_epoch:
                self._check_epoch(entry, batch.producer_epoch)
        if is_transactional:
            self._check_verified(entry, batch, verification)
        if self._verifications:
            self._check_first_sequence(entry, batch)
        if entry is not None:
            if not follows:
                self._refuse_sequence(entry, batch)
            if not is_transactional:
                self._check_transaction(entry)
        return None

    def check_coordinator_batch(
        self, batch: BatchHeader, verification: Verification | None = None
    ) -> None:
        """As `check_client_batch`, for a group coordinator's transactional records, which have no
        sequence numbers."""
        entry = self._entries.get(batch.producer_id)
        if entry is not None:
            self._check_epoch(entry, batch.producer_epoch)
        if batch.is_transactional:
            self._check_verified(entry, batch, verification)
        elif entry is not None:
            self._check_transaction(entry)

    def check_marker(
        self, batch: BatchHeader, *, coordinator_epoch: int, transaction_version: int
    ) -> None:
        """Raises if a transaction marker must not be appended."""
        entry = self._entries.get(batch.producer_id)
        if entry is None:
            return
        if batch.producer_epoch < entry.producer_epoch:
            self._check_epoch(entry, batch.producer_epoch)
        if transaction_version >= TRANSACTION_VERSION_2 and _is_late_marker(entry, batch):
            self._refuse_epoch(entry, batch.producer_epoch)
        if coordinator_epoch < entry.coordinator_epoch:
            raise KafkaError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"a marker for producer {entry.producer_id} on {self._partition} has coordinator "
                f"epoch {coordinator_epoch}, but a coordinator with epoch "
                f"{entry.coordinator_epoch} has taken over",
            )

    def update(self, batch: BatchHeader, *, base_offset: int) -> None:
        """Records a data batch that was appended at `base_offset`."""
        producer_id = batch.producer_id
        entry = self._entries.get(producer_id)
        if entry is None:
            entry = self._entries[producer_id] = ProducerEntry(producer_id)
            if producer_id >= _ONE_TIME:
                self._note_one_time(producer_id)
        entry.add_batch(batch, base_offset)
        if batch.attributes & TRANSACTIONAL_FLAG:
            if entry.current_txn_first_offset is None:
                entry.current_txn_first_offset = base_offset
                self.unstable.begin(first_offset=base_offset, producer_id=producer_id)
            if self._verifications:
                self._verifications.pop(producer_id, None)

    def update_marker(
        self, batch: BatchHeader, *, base_offset: int, coordinator_epoch: int, is_abort: bool
    ) -> CompletedTransaction | None:
        """Records an appended marker. Returns the transaction that it ended, for `complete`.

        Returns None if the producer had no open transaction on this partition.
        """
        producer_id = batch.producer_id
        entry = self._entries.get(producer_id)
        if entry is None:
            entry = self._entries[producer_id] = ProducerEntry(producer_id)
        if self._verifications:
            self._forget_verification(batch)
        first_offset = entry.current_txn_first_offset
        entry.end_transaction(
            producer_epoch=batch.producer_epoch,
            coordinator_epoch=coordinator_epoch,
            timestamp=batch.max_timestamp,
        )
        if first_offset is None:
            return None
        stable = self.unstable.last_stable_offset(producer_id=producer_id, last_offset=base_offset)
        return CompletedTransaction(producer_id, first_offset, base_offset, stable, is_abort)

    def complete(self, transaction: CompletedTransaction) -> None:
        """Marks the transaction as decided. The transaction index must already contain it if it
        aborted."""
        self.unstable.complete(transaction)

    def on_high_watermark_updated(self, high_watermark: int) -> None:
        self.unstable.forget_below(high_watermark)

    def on_log_start_offset_incremented(self, log_start_offset: int) -> None:
        self.unstable.forget_below(log_start_offset)

    def remove_expired(self, now_ms: int) -> int:
        """Removes producers that were idle too long, unless they have an open transaction. Returns
        how many."""
        expired = [entry for entry in self._entries.values() if self._is_expired(entry, now_ms)]
        for entry in expired:
            del self._entries[entry.producer_id]
            self._one_time.pop(entry.producer_id, None)
        self._verifications = {
            producer_id: verification
            for producer_id, verification in self._verifications.items()
            if now_ms - verification.started_ms < self.expiration_ms
        }
        return len(expired)

    def load(self, entries: Iterable[ProducerEntry], *, now_ms: int) -> None:
        """Replaces the state by a snapshot's entries, and takes ownership of them."""
        self._entries = {
            entry.producer_id: entry for entry in entries if not self._is_expired(entry, now_ms)
        }
        self._one_time = {each: None for each in self._entries if each >= _ONE_TIME}
        self.unstable.load(
            (entry.current_txn_first_offset, entry.producer_id)
            for entry in self._entries.values()
            if entry.current_txn_first_offset is not None
        )

    def remember(
        self, producer_id: int, producer_epoch: int, batches: Iterable[BatchMetadata]
    ) -> None:
        """Adds batches, oldest first, that precede those already kept."""
        entry = self._entries.get(producer_id)
        if entry is not None and entry.producer_epoch == producer_epoch:
            entry.add_earlier(batches)

    def clear(self) -> None:
        """Removes everything, for a log that was truncated fully."""
        self._entries.clear()
        self._one_time.clear()
        self.unstable.clear()
        self._verifications.clear()

    def _note_one_time(self, producer_id: int) -> None:
        """Forgets the oldest id: each is used for one batch, so there could be any number."""
        self._one_time[producer_id] = None
        if len(self._one_time) > ONE_TIME_PRODUCERS_MAX:
            oldest = next(iter(self._one_time))
            del self._one_time[oldest]
            entry = self._entries.get(oldest)
            if entry is not None and entry.current_txn_first_offset is None:
                del self._entries[oldest]

    def _is_expired(self, entry: ProducerEntry, now_ms: int) -> bool:
        return (
            entry.current_txn_first_offset is None
            and now_ms - entry.last_timestamp >= self.expiration_ms
        )

    def _check_epoch(self, entry: ProducerEntry, producer_epoch: int) -> None:
        if producer_epoch < entry.producer_epoch:
            self._refuse_epoch(entry, producer_epoch)

    def _check_verified(
        self, entry: ProducerEntry | None, batch: BatchHeader, verification: Verification | None
    ) -> None:
        if not self.requires_verification or (
            entry is not None and entry.is_in_transaction(batch.producer_epoch)
        ):
            return
        if verification is None or self._verifications.get(batch.producer_id) is not verification:
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {batch.producer_id} wrote to {self._partition} in a transaction that "
                "was not verified with its coordinator, or that has ended since",
            )

    def _check_first_sequence(self, entry: ProducerEntry | None, batch: BatchHeader) -> None:
        """Checks the first batch of a transaction against the other batches that wait for
        verification."""
        verification = self._verifications.get(batch.producer_id)
        if verification is None:
            return
        expected = verification.lowest_sequence
        is_new = entry is None or not entry.batches
        if verification.supports_epoch_bump and is_new and batch.base_sequence != 0:
            # Each transaction restarts its sequence numbers.
            expected = 0
        elif batch.base_sequence <= expected:
            return
        raise KafkaError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {batch.producer_id} begins on {self._partition} with sequence "
            f"{batch.base_sequence} of epoch {batch.producer_epoch}; {expected} is expected",
        )

    def _forget_verification(self, marker: BatchHeader) -> None:
        """Removes the verification for the transaction that the marker ends, but not one for the
        next. In TransactionV2 the next transaction has the marker's own epoch."""
        known = self._verifications.get(marker.producer_id)
        if known is not None and not (
            known.supports_epoch_bump and known.producer_epoch == marker.producer_epoch
        ):
            del self._verifications[marker.producer_id]

    def _check_transaction(self, entry: ProducerEntry) -> None:
        """For a non-transactional batch: raises if a transaction is open."""
        if entry.current_txn_first_offset is not None:
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {entry.producer_id} has a transaction open on {self._partition} since "
                f"offset {entry.current_txn_first_offset}; end it before writing outside of it",
            )

    def _refuse_epoch(self, entry: ProducerEntry, producer_epoch: int) -> NoReturn:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"producer {entry.producer_id} wrote to {self._partition} with epoch {producer_epoch} "
            f"after epoch {entry.producer_epoch}; a newer instance of it has taken over",
        )

    def _refuse_sequence(self, entry: ProducerEntry, batch: BatchHeader) -> NoReturn:
        raise KafkaError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {entry.producer_id} wrote to {self._partition} sequence "
            f"{batch.base_sequence} of epoch {batch.producer_epoch} after {entry.last_sequence} of "
            f"epoch {entry.producer_epoch}; batches in between are missing",
        )


def _is_late_marker(entry: ProducerEntry, batch: BatchHeader) -> bool:
    """Whether a marker belongs to an earlier transaction than the open one (KIP-890).

    Under transaction version 2 the coordinator bumps the epoch to end a transaction, so a marker
    with the producer's current epoch is a retry. It is harmless if no transaction is open, but
    would end the next transaction if one is. An epoch at its maximum cannot be bumped and is
    exempt.
    """
    return (
        batch.producer_epoch == entry.producer_epoch
        and entry.current_txn_first_offset is not None
        and batch.producer_epoch != PRODUCER_EPOCH_MAX
    )
