"""Transactional writes to a coordinator's partition, and the markers that end them."""

from __future__ import annotations

from typing import NamedTuple

from ottla.model import ProducerEpoch, ProducerId, TimestampMs
from ottla.storage.producers.verification import Verification
from ottla.wire.records import ControlRecordType, EndTransactionMarker, end_transaction_batch


class TransactionalWriter(NamedTuple):
    """The producer whose transaction the records belong to. `verification` is needed if the append
    may start the transaction in this partition."""

    producer_id: int
    producer_epoch: int
    verification: Verification | None = None


class TransactionMarker(NamedTuple):
    """A transaction's result, as its coordinator sends it to the partitions' leaders."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    is_committed: bool
    transaction_version: int = 0

    def batch(self, *, now_ms: int) -> bytearray:
        """The marker as a batch, to be appended with the coordinator as origin."""
        kind = ControlRecordType.COMMIT if self.is_committed else ControlRecordType.ABORT
        return end_transaction_batch(
            EndTransactionMarker(kind, self.coordinator_epoch),
            producer_id=ProducerId(self.producer_id),
            producer_epoch=ProducerEpoch(self.producer_epoch),
            timestamp=TimestampMs(now_ms),
        )
