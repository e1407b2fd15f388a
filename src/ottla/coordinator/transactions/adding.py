"""AddPartitionsToTxn and AddOffsetsToTxn: a partition is added to a transaction before records are
written to it, and the partition's leader verifies this with the coordinator.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.model import ErrorCode, KafkaError, TopicPartition


def add_partitions(
    transaction: Transaction,
    partitions: frozenset[TopicPartition],
    *,
    client_version: int,
    now_ms: int,
) -> Transaction:
    """The transaction with these partitions added; the same object if it already has them all."""
    is_ongoing = transaction.state is TransactionState.ONGOING
    if is_ongoing and partitions <= transaction.partitions:
        return transaction
    return transaction.become(
        TransactionState.ONGOING,
        partitions=transaction.partitions | partitions,
        start_ms=transaction.start_ms if is_ongoing else now_ms,
        updated_ms=now_ms,
        client_version=client_version,
    )


def require_may_add(transaction: Transaction, *, producer_id: int, producer_epoch: int) -> None:
    """Checks requests that add or verify partitions. Requests that add check first that the last
    transaction is complete."""
    if transaction.producer_id != producer_id:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            f"{transaction.transactional_id!r} belongs to producer {transaction.producer_id}, not "
            f"to {producer_id}",
        )
    if transaction.producer_epoch != producer_epoch:
        raise KafkaError(
            ErrorCode.PRODUCER_FENCED,
            f"the epoch of {transaction.transactional_id!r} is {transaction.producer_epoch} and "
            f"not {producer_epoch}",
        )
    transaction.require_completed()


def verify_partitions(
    transaction: Transaction, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    """The response to a leader that verifies partitions before it appends transactional records."""
    return {
        each: ErrorCode.NONE if each in transaction.partitions else ErrorCode.TRANSACTION_ABORTABLE
        for each in partitions
    }
