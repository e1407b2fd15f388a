"""The races of KIP-890: requests that come late, twice, or from producers that are no more.

Each touches its own transaction or none.
"""

from __future__ import annotations

import pytest

from ottla.coordinator.runtime.outcome import Outcome
from ottla.coordinator.transactions.initializing import ExpectedProducer
from ottla.coordinator.transactions.producer import ClaimedProducer
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import CLIENT_EPOCH_MAX
from ottla.model import ErrorCode
from tests.support.coordinator.transaction_shard import (
    ID,
    ORDERS,
    PAYMENTS,
    TIMEOUT_MS,
    TransactionShard,
)

FENCED = ErrorCode.PRODUCER_FENCED
# A client that describes a transaction while its markers are written has to retry.
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.fixture
def shard() -> TransactionShard:
    return TransactionShard()


@pytest.mark.parametrize("commits_first", [True, False])
@pytest.mark.parametrize("commits_late", [True, False])
def test_late_end_never_touches_a_later_transaction(
    shard: TransactionShard, commits_first: bool, commits_late: bool
) -> None:
    first = shard.new_producer()
    second = shard.transact(first, commits=commits_first)
    shard.add(second, PAYMENTS)
    assert shard.end(first, commits=commits_late).error is FENCED
    assert shard.is_in(TransactionState.ONGOING)
    assert not shard.markers.requested


def test_late_end_never_touches_a_later_transaction_that_is_decided(
    shard: TransactionShard,
) -> None:
    first = shard.new_producer()
    second = shard.transact(first)
    shard.add(second)
    shard.end(second, commits=True)
    assert shard.end(first, commits=True).error is BUSY
    assert shard.end(first, commits=False).error is BUSY
    shard.markers_written()
    assert shard.end(first, commits=True).error is FENCED
    assert shard.end(first, commits=False).error is FENCED
    assert shard.is_in(TransactionState.COMPLETE_COMMIT)


def test_repeated_end_is_answered_the_same(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    once = shard.end(producer, commits=True).value
    assert shard.end(producer, commits=True).error is ErrorCode.CONCURRENT_TRANSACTIONS
    shard.markers_written()
    again = shard.end(producer, commits=True).value
    assert (again.producer_id, again.producer_epoch) == (once.producer_id, once.producer_epoch)
    assert shard.is_in(TransactionState.COMPLETE_COMMIT)


def test_committed_transaction_cannot_be_aborted_by_a_second_request(
    shard: TransactionShard,
) -> None:
    producer = shard.new_producer()
    shard.transact(producer)
    assert shard.end(producer, commits=False).error is ErrorCode.INVALID_TXN_STATE
    assert shard.is_in(TransactionState.COMPLETE_COMMIT)


def test_late_partitions_never_open_a_transaction(shard: TransactionShard) -> None:
    """The hanging transaction: a request of the last transaction opens another that never ends."""
    first = shard.new_producer()
    shard.transact(first)
    assert shard.add(first, PAYMENTS).error is FENCED
    assert shard.is_in(TransactionState.COMPLETE_COMMIT)


def test_late_records_are_not_verified(shard: TransactionShard) -> None:
    first = shard.new_producer()
    second = shard.transact(first)
    shard.add(second)
    answer = shard.submit(
        lambda machine: _verified(machine.verify_partitions(first, frozenset({ORDERS})))
    )
    assert answer.error is FENCED


def test_partitions_wait_for_the_markers_of_the_last_transaction(shard: TransactionShard) -> None:
    first = shard.new_producer()
    shard.add(first)
    second = ClaimedProducer(ID, first.producer_id, 1)
    shard.end(first, commits=True)
    assert shard.add(second).error is ErrorCode.CONCURRENT_TRANSACTIONS
    shard.markers_written()
    assert shard.add(second).error is ErrorCode.NONE


def test_markers_that_are_reported_late_complete_no_later_transaction(
    shard: TransactionShard,
) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.end(producer, commits=True)
    (first_markers,) = shard.markers.requested
    shard.markers_written()
    second = ClaimedProducer(ID, producer.producer_id, 1)
    shard.add(second, PAYMENTS)
    shard.end(second, commits=False)
    shard.written(first_markers)
    assert shard.is_in(TransactionState.PREPARE_ABORT)
    shard.markers_written()
    shard.written(first_markers)
    assert shard.is_in(TransactionState.COMPLETE_ABORT)


# ---- zombies


def test_new_producer_aborts_the_transaction_of_the_old_one(shard: TransactionShard) -> None:
    zombie = shard.new_producer()
    shard.add(zombie)
    assert shard.init().error is ErrorCode.CONCURRENT_TRANSACTIONS
    assert [each.is_commit for each in shard.markers.requested] == [False]
    assert shard.init().error is ErrorCode.CONCURRENT_TRANSACTIONS
    shard.markers_written()
    producer = shard.new_producer()
    assert producer.producer_epoch == zombie.producer_epoch + 2
    assert shard.add(producer).error is ErrorCode.NONE


def test_zombie_commits_nothing_after_it_was_fenced(shard: TransactionShard) -> None:
    zombie = shard.new_producer()
    shard.add(zombie)
    shard.init()
    assert shard.end(zombie, commits=True).error is BUSY
    assert shard.add(zombie).error is BUSY
    shard.markers_written()
    assert shard.add(zombie).error is FENCED
    assert shard.end(zombie, commits=True).error is ErrorCode.INVALID_TXN_STATE
    producer = shard.new_producer()
    assert shard.end(zombie, commits=True).error is FENCED
    assert shard.end(zombie, commits=False).error is FENCED
    shard.add(producer)
    assert shard.end(zombie, commits=True).error is FENCED
    assert shard.is_in(TransactionState.ONGOING)


def test_zombie_that_goes_on_is_fenced_by_its_successor(shard: TransactionShard) -> None:
    zombie = shard.new_producer()
    shard.new_producer()
    expected = ExpectedProducer(zombie.producer_id, zombie.producer_epoch)
    assert shard.init(expected).error is FENCED


def test_zombie_cannot_abort_the_transaction_of_its_successor_by_going_on(
    shard: TransactionShard,
) -> None:
    zombie = shard.new_producer()
    producer = shard.new_producer()
    shard.add(producer)
    expected = ExpectedProducer(zombie.producer_id + 5, zombie.producer_epoch)
    assert shard.init(expected).error is FENCED
    assert shard.is_in(TransactionState.ONGOING)


# ---- timeouts


def test_commit_that_comes_after_the_timeout_is_refused(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.clock.advance(TIMEOUT_MS / 1_000)
    assert shard.end(producer, commits=True).error is BUSY
    shard.markers_written()
    assert shard.end(producer, commits=True).error is ErrorCode.INVALID_TXN_STATE


def test_abort_that_comes_after_the_timeout_is_done_already(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.clock.advance(TIMEOUT_MS / 1_000)
    shard.markers_written()
    answer = shard.end(producer, commits=False).value
    assert answer.producer_epoch == producer.producer_epoch + 1


def test_timeout_of_one_transaction_never_aborts_the_next(shard: TransactionShard) -> None:
    first = shard.new_producer()
    shard.add(first)
    shard.clock.advance(TIMEOUT_MS / 1_000 - 1)
    shard.end(first, commits=True)
    shard.markers_written()
    shard.add(ClaimedProducer(ID, first.producer_id, 1))
    shard.clock.advance(2)
    assert shard.is_in(TransactionState.ONGOING)


# ---- requests that come a moment too early


@pytest.mark.parametrize("epoch", [3, CLIENT_EPOCH_MAX])
def test_next_transaction_can_begin_and_end_once_the_last_one_has(
    shard: TransactionShard, epoch: int
) -> None:
    """Its producer knows the next epoch, or even the next id, from the answer to its commit."""
    producer = shard.new_producer_at(epoch)
    shard.add(producer)
    answer = shard.end(producer, commits=True).value
    following = ClaimedProducer(ID, answer.producer_id, answer.producer_epoch)
    assert (following.producer_id != producer.producer_id) is (epoch == CLIENT_EPOCH_MAX)
    expected = ExpectedProducer(following.producer_id, following.producer_epoch)

    assert shard.add(following).error is BUSY
    assert shard.end(following, commits=False).error is BUSY
    assert shard.end(following, commits=True).error is BUSY
    assert shard.init(expected).error is BUSY
    shard.markers_written()
    assert shard.add(following).error is ErrorCode.NONE
    assert shard.end(following, commits=False).error is ErrorCode.NONE


def test_waiter_for_a_completion_is_called_back_once(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.end(producer, commits=True)
    notified: list[TransactionState] = []
    shard.machine.completions.wait(
        ID, lambda: notified.append(shard.transaction.state), wait_ms=100
    )
    shard.markers_written()
    shard.clock.advance(1)
    assert notified == [TransactionState.COMPLETE_COMMIT]


def test_waiter_is_called_back_after_a_timeout(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.end(producer, commits=True)
    notified: list[TransactionState] = []
    shard.machine.completions.wait(
        ID, lambda: notified.append(shard.transaction.state), wait_ms=100
    )
    shard.clock.advance(0.2)
    assert notified == [TransactionState.PREPARE_COMMIT]


def test_waiter_is_called_back_when_another_node_coordinates(shard: TransactionShard) -> None:
    notified: list[bool] = []
    shard.machine.completions.wait(ID, lambda: notified.append(True), wait_ms=100)
    shard.failover()
    assert notified == [True]


def _verified(_codes: object) -> Outcome:
    raise AssertionError("a late record was verified")
