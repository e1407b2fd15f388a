"""The markers that end a transaction in its partitions, and who writes them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ottla.coordinator.transactions.transaction import Transaction
from ottla.model import TopicPartition


class TransactionMarkers(NamedTuple):
    """The same marker for each of the partitions."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_commit: bool
    # The level of `transaction.version` that the transaction was ended by (KIP-1228).
    transaction_version: int
    partitions: frozenset[TopicPartition]


class MarkerWriter(Protocol):
    """Writes markers to the leaders of partitions, again and again until each has its own or is
    gone. When all are written it has the coordinator complete the transaction."""

    def write(self, markers: TransactionMarkers) -> None: ...

    def close(self) -> None:
        """Another coordinator writes what is left."""


def markers_of(transaction: Transaction) -> TransactionMarkers:
    return TransactionMarkers(
        transaction.transactional_id,
        transaction.producer_id,
        transaction.producer_epoch,
        transaction.is_committing,
        transaction.client_version,
        transaction.partitions,
    )
