"""Transactions as records, and back."""

from __future__ import annotations

import pytest

from ottla.coordinator.transactions.states import STATES_BY_TITLE, TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.coordinator.transactions.transaction_records import (
    read_transaction,
    tombstone,
    transaction_record,
)
from ottla.coordinator.transactions.versions import TV_0, TV_2
from ottla.model import TopicPartition
from ottla.wire.stored.coordinator_records import TRANSACTION_RECORDS
from ottla.wire.stored.transactions import TransactionLogKey, TransactionLogValue

ONGOING = Transaction(
    "transfers",
    producer_id=7,
    timeout_ms=60_000,
    producer_epoch=3,
    previous_producer_id=6,
    next_producer_id=9,
    state=TransactionState.ONGOING,
    partitions=frozenset({TopicPartition("b", 1), TopicPartition("a", 2), TopicPartition("a", 0)}),
    start_ms=10,
    updated_ms=20,
    client_version=TV_2,
)


def stored(transaction: Transaction, *, version: int) -> Transaction | None:
    record = transaction_record(transaction, server_version=version)
    assert record.value is not None
    key = TRANSACTION_RECORDS.decode_key(TRANSACTION_RECORDS.encode_key(record.key))
    raw = TRANSACTION_RECORDS.encode_value(record.value, record.value_version)
    value, _ = TRANSACTION_RECORDS.decode_value(key, raw)
    assert isinstance(key, TransactionLogKey)
    assert isinstance(value, TransactionLogValue)
    return read_transaction(key.transactional_id, value)


def test_transaction_is_read_as_it_was_written() -> None:
    assert stored(ONGOING, version=TV_2) == ONGOING


def test_older_records_have_no_other_producer_ids() -> None:
    without = ONGOING._replace(previous_producer_id=-1, next_producer_id=-1, client_version=TV_0)
    assert stored(ONGOING, version=TV_0) == without


def test_last_epoch_is_not_written() -> None:
    assert stored(ONGOING._replace(last_producer_epoch=2), version=TV_2) == ONGOING


def test_empty_transaction_has_null_for_its_partitions() -> None:
    empty = ONGOING._replace(state=TransactionState.EMPTY, partitions=frozenset())
    record = transaction_record(empty, server_version=TV_2)
    assert isinstance(record.value, TransactionLogValue)
    assert record.value.transaction_partitions is None
    assert stored(empty, version=TV_2) == empty


def test_partitions_are_written_in_order() -> None:
    record = transaction_record(ONGOING, server_version=TV_2)
    assert isinstance(record.value, TransactionLogValue)
    topics = record.value.transaction_partitions
    assert topics is not None
    assert [(topic.topic, topic.partition_ids) for topic in topics] == [("a", [0, 2]), ("b", [1])]


def test_expired_id_is_a_tombstone() -> None:
    assert tombstone("transfers").value is None


def test_unknown_state_is_left_out() -> None:
    assert read_transaction("id", TransactionLogValue(transaction_status=9)) is None


@pytest.mark.parametrize(
    ("state", "number", "title"),
    [
        (TransactionState.EMPTY, 0, "Empty"),
        (TransactionState.ONGOING, 1, "Ongoing"),
        (TransactionState.PREPARE_COMMIT, 2, "PrepareCommit"),
        (TransactionState.PREPARE_ABORT, 3, "PrepareAbort"),
        (TransactionState.COMPLETE_COMMIT, 4, "CompleteCommit"),
        (TransactionState.COMPLETE_ABORT, 5, "CompleteAbort"),
        (TransactionState.DEAD, 6, "Dead"),
        (TransactionState.PREPARE_EPOCH_FENCE, 7, "PrepareEpochFence"),
    ],
)
def test_states_are_numbered_and_named_as_in_kafka(
    state: TransactionState, number: int, title: str
) -> None:
    assert (state, state.title) == (number, title)
    assert STATES_BY_TITLE[title] is state
