"""Converts transactions to and from records of `__transaction_state`."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.coordinator.transactions.versions import record_version
from ottla.model import TopicPartition
from ottla.wire.stored.transactions import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)

_KNOWN_STATES = frozenset(TransactionState)
_REMEMBERED_MAX: Final = 1_024


def transaction_record(transaction: Transaction, *, server_version: int) -> CoordinatorRecord:
    is_empty = transaction.state is TransactionState.EMPTY
    assert not (is_empty and transaction.partitions)
    return CoordinatorRecord(
        _key_of(transaction.transactional_id),
        TransactionLogValue(
            producer_id=transaction.producer_id,
            previous_producer_id=transaction.previous_producer_id,
            next_producer_id=transaction.next_producer_id,
            producer_epoch=transaction.producer_epoch,
            transaction_timeout_ms=transaction.timeout_ms,
            transaction_status=transaction.state,
            transaction_partitions=None if is_empty else _by_topic(transaction.partitions),
            transaction_last_update_timestamp_ms=transaction.updated_ms,
            transaction_start_timestamp_ms=transaction.start_ms,
            client_transaction_version=transaction.client_version,
        ),
        record_version(server_version),
    )


def tombstone(transactional_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(TransactionLogKey(transactional_id=transactional_id), None)


def read_transaction(transactional_id: str, value: TransactionLogValue) -> Transaction | None:
    """None if the record has an unknown state."""
    if value.transaction_status not in _KNOWN_STATES:
        return None
    return Transaction(
        transactional_id,
        producer_id=value.producer_id,
        timeout_ms=value.transaction_timeout_ms,
        producer_epoch=value.producer_epoch,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        state=TransactionState(value.transaction_status),
        partitions=frozenset(
            TopicPartition(topic.topic, index)
            for topic in value.transaction_partitions or ()
            for index in topic.partition_ids
        ),
        start_ms=value.transaction_start_timestamp_ms,
        updated_ms=value.transaction_last_update_timestamp_ms,
        client_version=value.client_transaction_version,
    )


@lru_cache(maxsize=_REMEMBERED_MAX)
def _key_of(transactional_id: str) -> TransactionLogKey:
    return TransactionLogKey(transactional_id=transactional_id)


@lru_cache(maxsize=_REMEMBERED_MAX)
def _by_topic(partitions: frozenset[TopicPartition]) -> list[PartitionsSchema]:
    """Cached: the same partitions are usually ended next, and then added again."""
    topics: dict[str, list[int]] = {}
    # Sorted, because the order of a set differs between processes.
    for name, index in sorted(partitions):
        topics.setdefault(name, []).append(index)
    return [PartitionsSchema(topic=name, partition_ids=ids) for name, ids in topics.items()]
