"""What producers write to a coordinator's partition within transactions, and what ends them."""

from __future__ import annotations

from typing import NamedTuple

from ottla.model import ProducerEpoch, ProducerId, TimestampMs
from ottla.storage.producers.verification import Verification
from ottla.wire.records import ControlRecordType, EndTransactionMarker, end_transaction_batch


class TransactionalWriter(NamedTuple):
    """A producer whose transaction records are a part of; `verification` if it may open it here."""

    producer_id: int
    producer_epoch: int
    verification: Verification | None = None


class TransactionMarker(NamedTuple):
    """How a transaction ended, as its coordinator tells those who lead its partitions."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    is_committed: bool
    transaction_version: int = 0

    def batch(self, *, now_ms: int) -> bytearray:
        """For one partition, to be appended as a coordinator's."""
        kind = ControlRecordType.COMMIT if self.is_committed else ControlRecordType.ABORT
        return end_transaction_batch(
            EndTransactionMarker(kind, self.coordinator_epoch),
            producer_id=ProducerId(self.producer_id),
            producer_epoch=ProducerEpoch(self.producer_epoch),
            timestamp=TimestampMs(now_ms),
        )
