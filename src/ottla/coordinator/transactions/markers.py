"""The markers that end a transaction in its partitions, and the interface that writes them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ottla.coordinator.transactions.transaction import Transaction
from ottla.model import TopicPartition


class TransactionMarkers(NamedTuple):
    """One marker for all partitions of a transaction."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_commit: bool
    # The `transaction.version` with which the transaction was ended (KIP-1228).
    transaction_version: int
    partitions: frozenset[TopicPartition]


class MarkerWriter(Protocol):
    """Sends markers to the partitions' leaders, with retries until each partition has its marker or
    is deleted. Then it calls the coordinator to complete the transaction."""

    def write(self, markers: TransactionMarkers) -> None: ...

    def close(self) -> None:
        """Stops; the next coordinator writes the remaining markers."""


def markers_of(transaction: Transaction) -> TransactionMarkers:
    return TransactionMarkers(
        transaction.transactional_id,
        transaction.producer_id,
        transaction.producer_epoch,
        transaction.is_committing,
        transaction.client_version,
        transaction.partitions,
    )
