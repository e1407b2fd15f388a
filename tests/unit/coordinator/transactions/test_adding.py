"""Partitions in transactions: added, known already, asked about."""

from __future__ import annotations

import pytest

from ottla.coordinator.transactions.adding import (
    add_partitions,
    require_may_add,
    verify_partitions,
)
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.coordinator.transactions.versions import TV_2
from ottla.model import ErrorCode, KafkaError, TopicPartition

ORDERS, PAYMENTS = TopicPartition("orders", 0), TopicPartition("payments", 1)
IDLE = Transaction("id", producer_id=7, timeout_ms=60_000, producer_epoch=3)
ONGOING = IDLE._replace(
    state=TransactionState.ONGOING, partitions=frozenset({ORDERS}), start_ms=1, updated_ms=1
)


def added(transaction: Transaction, *partitions: TopicPartition) -> Transaction:
    return add_partitions(transaction, frozenset(partitions), client_version=TV_2, now_ms=50)


@pytest.mark.parametrize(
    "state",
    [TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT],
)
def test_first_partition_begins_a_transaction(state: TransactionState) -> None:
    after = added(IDLE._replace(state=state, start_ms=3), ORDERS)
    assert after.state is TransactionState.ONGOING
    assert after.partitions == {ORDERS}
    assert (after.start_ms, after.updated_ms) == (50, 50)
    assert after.client_version == TV_2


def test_another_partition_joins_the_transaction_which_does_not_begin_anew() -> None:
    after = added(ONGOING, PAYMENTS)
    assert after.partitions == {ORDERS, PAYMENTS}
    assert (after.start_ms, after.updated_ms) == (1, 50)


def test_partition_that_is_there_changes_nothing() -> None:
    assert added(ONGOING, ORDERS) is ONGOING


@pytest.mark.parametrize(
    ("producer_id", "epoch", "code"),
    [
        (8, 3, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        (7, 2, ErrorCode.PRODUCER_FENCED),
        (7, 4, ErrorCode.PRODUCER_FENCED),
    ],
)
def test_only_the_current_producer_adds(producer_id: int, epoch: int, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as caught:
        require_may_add(ONGOING, producer_id=producer_id, producer_epoch=epoch)
    assert caught.value.code is code


@pytest.mark.parametrize("state", [TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT])
def test_nothing_is_added_while_markers_are_written(state: TransactionState) -> None:
    with pytest.raises(KafkaError) as caught:
        require_may_add(ONGOING._replace(state=state), producer_id=7, producer_epoch=3)
    assert caught.value.code is ErrorCode.CONCURRENT_TRANSACTIONS


def test_partition_that_was_not_added_is_not_to_be_written_to() -> None:
    assert verify_partitions(ONGOING, [ORDERS, PAYMENTS]) == {
        ORDERS: ErrorCode.NONE,
        PAYMENTS: ErrorCode.TRANSACTION_ABORTABLE,
    }


def test_no_partition_is_in_a_transaction_that_is_over() -> None:
    over = IDLE._replace(state=TransactionState.COMPLETE_COMMIT)
    assert verify_partitions(over, [ORDERS]) == {ORDERS: ErrorCode.TRANSACTION_ABORTABLE}
