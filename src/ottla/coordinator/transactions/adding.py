"""AddPartitionsToTxn and AddOffsetsToTxn: partitions become part of a transaction before anything
is written to them, and the leaders of partitions ask whether they are.
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
    """The transaction with these partitions too: the same one if it had them all."""
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
    """The same for whoever adds and whoever asks; who adds waits for the last transaction first."""
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
    """What a leader is told that has records of the transaction in its hands."""
    return {
        each: ErrorCode.NONE if each in transaction.partitions else ErrorCode.TRANSACTION_ABORTABLE
        for each in partitions
    }
