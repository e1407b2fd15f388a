"""Ends of transactions: decided, asked for again, fenced, completed."""

from __future__ import annotations

from typing import Final

import pytest

from ottla.coordinator.transactions.ending import complete, decide, fence, is_already_ended
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import CLIENT_EPOCH_MAX, EPOCH_MAX, Transaction
from ottla.coordinator.transactions.versions import TV_0, TV_2
from ottla.model import ErrorCode, KafkaError, TopicPartition

NEW_ID = 77
NOW_MS = 50
ORDERS = TopicPartition("orders", 0)
EMPTY = Transaction("id", producer_id=7, timeout_ms=60_000, producer_epoch=3)
ONGOING = EMPTY._replace(
    state=TransactionState.ONGOING, partitions=frozenset({ORDERS}), start_ms=1, updated_ms=1
)
COMMITTING = ONGOING._replace(
    state=TransactionState.PREPARE_COMMIT,
    producer_epoch=4,
    last_producer_epoch=3,
    client_version=TV_2,
)
ABORTING = COMMITTING._replace(state=TransactionState.PREPARE_ABORT)
COMMITTED = EMPTY._replace(
    state=TransactionState.COMPLETE_COMMIT, start_ms=1, producer_epoch=4, client_version=TV_2
)
ABORTED = COMMITTED._replace(state=TransactionState.COMPLETE_ABORT)

FENCED: Final = ErrorCode.PRODUCER_FENCED
INVALID: Final = ErrorCode.INVALID_TXN_STATE
BUSY: Final = ErrorCode.CONCURRENT_TRANSACTIONS
DO = "to be done now"
DONE = "done already"


def end_result(
    transaction: Transaction, epoch: int, *, commits: bool, version: int, producer_id: int = 7
) -> ErrorCode | str:
    try:
        is_done = is_already_ended(
            transaction,
            producer_id=producer_id,
            producer_epoch=epoch,
            commits=commits,
            client_version=version,
        )
    except KafkaError as error:
        return error.code
    return DONE if is_done else DO


@pytest.mark.parametrize(
    ("transaction", "epoch", "abort", "commit"),
    [
        (EMPTY, 2, FENCED, FENCED),
        (EMPTY, 3, DO, INVALID),
        (EMPTY, 4, FENCED, FENCED),
        (ONGOING, 2, FENCED, FENCED),
        (ONGOING, 3, DO, DO),
        (ONGOING, 4, FENCED, FENCED),
        (COMMITTING, 2, BUSY, BUSY),
        (COMMITTING, 3, BUSY, BUSY),
        (COMMITTING, 4, BUSY, BUSY),
        (ABORTING, 2, BUSY, BUSY),
        (ABORTING, 3, BUSY, BUSY),
        (ABORTING, 4, BUSY, BUSY),
        (COMMITTED, 2, FENCED, FENCED),
        (COMMITTED, 3, INVALID, DONE),
        (COMMITTED, 4, DO, INVALID),
        (COMMITTED, 5, FENCED, FENCED),
        (ABORTED, 2, FENCED, FENCED),
        (ABORTED, 3, DONE, INVALID),
        (ABORTED, 4, DO, INVALID),
        (ABORTED, 5, FENCED, FENCED),
    ],
)
def test_what_an_end_comes_to_with_transaction_v2(
    transaction: Transaction, epoch: int, abort: ErrorCode | str, commit: ErrorCode | str
) -> None:
    assert end_result(transaction, epoch, commits=False, version=TV_2) == abort
    assert end_result(transaction, epoch, commits=True, version=TV_2) == commit


# In the older protocol a transaction ends with the epoch that it began with.
COMMITTING_V1 = COMMITTING._replace(producer_epoch=3, client_version=TV_0)
ABORTING_V1 = ABORTING._replace(producer_epoch=3, client_version=TV_0)
COMMITTED_V1 = COMMITTED._replace(producer_epoch=3, client_version=TV_0)
ABORTED_V1 = ABORTED._replace(producer_epoch=3, client_version=TV_0)


@pytest.mark.parametrize(
    ("transaction", "abort", "commit"),
    [
        (EMPTY, INVALID, INVALID),
        (ONGOING, DO, DO),
        (COMMITTING_V1, INVALID, BUSY),
        (ABORTING_V1, BUSY, INVALID),
        (COMMITTED_V1, INVALID, DONE),
        (ABORTED_V1, DONE, INVALID),
    ],
)
def test_what_an_end_comes_to_in_the_older_protocol(
    transaction: Transaction, abort: ErrorCode | str, commit: ErrorCode | str
) -> None:
    assert end_result(transaction, 3, commits=False, version=TV_0) == abort
    assert end_result(transaction, 3, commits=True, version=TV_0) == commit
    for epoch in (2, 4):
        assert end_result(transaction, epoch, commits=False, version=TV_0) == FENCED
        assert end_result(transaction, epoch, commits=True, version=TV_0) == FENCED


@pytest.mark.parametrize("transaction", [COMMITTED_V1, ABORTED_V1, EMPTY, ONGOING])
def test_a_zombie_does_not_get_the_epoch_of_its_successor(transaction: Transaction) -> None:
    """Who follows may speak the older protocol, in which a transaction ends with its own epoch."""
    for commits in (False, True):
        assert end_result(transaction, 2, commits=commits, version=TV_2) == FENCED


@pytest.mark.parametrize("version", [TV_0, TV_2])
@pytest.mark.parametrize("transaction", [EMPTY, ONGOING, COMMITTED])
def test_another_producer_ends_nothing(transaction: Transaction, version: int) -> None:
    epoch = transaction.producer_epoch
    code = end_result(transaction, epoch, commits=True, version=version, producer_id=8)
    assert code is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def decided(transaction: Transaction, *, commits: bool, version: int = TV_2) -> Transaction:
    return decide(
        transaction,
        lambda: NEW_ID,
        commits=commits,
        client_version=version,
        now_ms=NOW_MS,
    )


def test_decision_raises_the_epoch() -> None:
    after = decided(ONGOING, commits=True)
    assert after.state is TransactionState.PREPARE_COMMIT
    assert (after.producer_epoch, after.last_producer_epoch) == (4, 3)
    assert after.partitions == {ORDERS}
    assert (after.start_ms, after.updated_ms) == (1, NOW_MS)
    assert after.next_producer_id == -1


def test_decision_keeps_the_epoch_in_the_older_protocol() -> None:
    after = decided(ONGOING, commits=False, version=TV_0)
    assert after.state is TransactionState.PREPARE_ABORT
    assert after.producer_epoch == 3


@pytest.mark.parametrize("idle", [EMPTY, COMMITTED, ABORTED])
def test_abort_without_a_transaction_raises_the_epoch(idle: Transaction) -> None:
    after = decided(idle, commits=False)
    assert after.state is TransactionState.PREPARE_ABORT
    assert after.producer_epoch == idle.producer_epoch + 1
    assert after.start_ms == NOW_MS
    assert not after.partitions


@pytest.mark.parametrize(
    ("before", "state"),
    [
        (COMMITTING, TransactionState.COMPLETE_COMMIT),
        (ABORTING, TransactionState.COMPLETE_ABORT),
    ],
)
def test_transaction_is_complete_with_its_markers(
    before: Transaction, state: TransactionState
) -> None:
    after = complete(before, now_ms=NOW_MS)
    assert after.state is state
    assert not after.partitions
    assert (after.producer_id, after.producer_epoch) == (7, 4)
    assert after.start_ms == 1


def test_fencing_raises_the_epoch_once() -> None:
    after = fence(ONGOING, lambda: NEW_ID, server_version=TV_2, now_ms=NOW_MS)
    assert after.state is TransactionState.PREPARE_ABORT
    assert (after.producer_epoch, after.last_producer_epoch) == (4, 3)


def test_fencing_in_the_older_protocol_leaves_no_producer_to_go_on() -> None:
    after = fence(ONGOING, lambda: NEW_ID, server_version=TV_0, now_ms=NOW_MS)
    assert (after.producer_epoch, after.last_producer_epoch) == (4, -1)


class TestEpochsExhausted:
    EXHAUSTED = ONGOING._replace(producer_epoch=CLIENT_EPOCH_MAX)

    def test_markers_have_the_highest_epoch_and_the_producer_a_new_id(self) -> None:
        after = decided(self.EXHAUSTED, commits=True)
        assert (after.producer_id, after.producer_epoch) == (7, EPOCH_MAX)
        assert after.next_producer_id == NEW_ID
        completed = complete(after, now_ms=NOW_MS)
        assert (completed.producer_id, completed.producer_epoch) == (NEW_ID, 0)
        assert completed.previous_producer_id == 7
        assert completed.next_producer_id == -1

    def test_repeated_end_is_recognised_under_the_old_id(self) -> None:
        after = complete(decided(self.EXHAUSTED, commits=True), now_ms=NOW_MS)
        assert end_result(after, CLIENT_EPOCH_MAX, commits=True, version=TV_2) == DONE
        assert end_result(after, CLIENT_EPOCH_MAX, commits=False, version=TV_2) == INVALID

    def test_another_epoch_of_the_old_id_is_refused(self) -> None:
        after = complete(decided(self.EXHAUSTED, commits=True), now_ms=NOW_MS)
        unknown = ErrorCode.INVALID_PRODUCER_ID_MAPPING
        assert end_result(after, CLIENT_EPOCH_MAX - 1, commits=True, version=TV_2) == unknown

    def test_fenced_producer_has_no_epoch_that_overflows(self) -> None:
        after = fence(self.EXHAUSTED, lambda: NEW_ID, server_version=TV_2, now_ms=NOW_MS)
        assert (after.producer_epoch, after.next_producer_id) == (EPOCH_MAX, NEW_ID)
        older = fence(self.EXHAUSTED, lambda: NEW_ID, server_version=TV_0, now_ms=NOW_MS)
        assert older.producer_epoch == EPOCH_MAX

    def test_highest_epoch_of_all_does_not_overflow(self) -> None:
        highest = ONGOING._replace(producer_epoch=EPOCH_MAX)
        after = fence(highest, lambda: NEW_ID, server_version=TV_2, now_ms=NOW_MS)
        assert (after.producer_epoch, after.next_producer_id) == (EPOCH_MAX, NEW_ID)
