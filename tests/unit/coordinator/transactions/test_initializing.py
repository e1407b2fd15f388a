"""InitProducerId: who gets which id and epoch, and who is fenced."""

from __future__ import annotations

import pytest

from ottla.coordinator.transactions.initializing import ExpectedProducer, initialize
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import CLIENT_EPOCH_MAX, Transaction
from ottla.model import ErrorCode, KafkaError, TopicPartition

NOW_MS = 5_000
NEW_ID = 77
IDLE = [
    TransactionState.EMPTY,
    TransactionState.COMPLETE_COMMIT,
    TransactionState.COMPLETE_ABORT,
]
NEW = Transaction("id", producer_id=7, timeout_ms=60_000)
KNOWN = NEW._replace(producer_epoch=3, last_producer_epoch=2, previous_producer_id=7)


def initialized(
    transaction: Transaction, expected: ExpectedProducer | None = None, *, timeout_ms: int = 9_000
) -> Transaction:
    return initialize(transaction, expected, lambda: NEW_ID, timeout_ms=timeout_ms, now_ms=NOW_MS)


def refusal(transaction: Transaction, expected: ExpectedProducer | None = None) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        initialized(transaction, expected)
    return caught.value.code


def test_first_producer_has_epoch_0() -> None:
    after = initialized(NEW)
    assert (after.producer_id, after.producer_epoch, after.last_producer_epoch) == (7, 0, -1)
    assert after.state is TransactionState.EMPTY
    assert after.timeout_ms == 9_000
    assert after.updated_ms == NOW_MS


@pytest.mark.parametrize("state", IDLE)
def test_next_producer_fences_the_last_by_an_epoch(state: TransactionState) -> None:
    after = initialized(KNOWN._replace(state=state, start_ms=1))
    assert (after.producer_id, after.producer_epoch) == (7, 4)
    assert after.last_producer_epoch == -1
    assert after.state is TransactionState.EMPTY
    assert after.start_ms == -1


def test_producer_goes_on_after_an_error_with_the_next_epoch() -> None:
    after = initialized(KNOWN, ExpectedProducer(7, 3))
    assert (after.producer_epoch, after.last_producer_epoch) == (4, 3)


def test_repeated_producer_request_is_answered_the_same() -> None:
    once = initialized(KNOWN, ExpectedProducer(7, 3))
    twice = initialized(once, ExpectedProducer(7, 3))
    assert (twice.producer_epoch, twice.last_producer_epoch) == (4, 3)


def test_producer_cannot_go_on_after_another_took_over() -> None:
    taken_over = initialized(KNOWN)
    assert refusal(taken_over, ExpectedProducer(7, 3)) is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("epoch", [0, 1, 4, 5])
def test_producer_with_neither_the_current_nor_the_last_epoch_is_fenced(epoch: int) -> None:
    assert refusal(KNOWN, ExpectedProducer(7, epoch)) is ErrorCode.PRODUCER_FENCED


def test_producer_with_another_id_is_fenced() -> None:
    assert refusal(KNOWN, ExpectedProducer(8, 3)) is ErrorCode.PRODUCER_FENCED


def test_producer_whose_transactional_id_expired_may_go_on_with_a_new_id() -> None:
    after = initialized(NEW, ExpectedProducer(3, 5))
    assert (after.producer_id, after.producer_epoch) == (7, 0)


@pytest.mark.parametrize("state", [TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT])
def test_no_producer_takes_over_while_markers_are_written(state: TransactionState) -> None:
    busy = KNOWN._replace(state=state, partitions=frozenset({TopicPartition("orders", 0)}))
    assert refusal(busy) is ErrorCode.CONCURRENT_TRANSACTIONS


def test_no_producer_is_fenced_while_markers_are_written() -> None:
    """It may be the producer itself, which knows already what the transaction becomes then."""
    busy = KNOWN._replace(state=TransactionState.PREPARE_COMMIT)
    assert refusal(busy, ExpectedProducer(8, 0)) is ErrorCode.CONCURRENT_TRANSACTIONS


class TestEpochsExhausted:
    EXHAUSTED = KNOWN._replace(producer_epoch=CLIENT_EPOCH_MAX)

    def test_new_producer_gets_a_new_id(self) -> None:
        after = initialized(self.EXHAUSTED)
        assert (after.producer_id, after.producer_epoch) == (NEW_ID, 0)
        assert after.last_producer_epoch == -1
        assert after.previous_producer_id == 7

    def test_one_that_goes_on_gets_a_new_id_and_may_retry(self) -> None:
        expected = ExpectedProducer(7, CLIENT_EPOCH_MAX)
        once = initialized(self.EXHAUSTED, expected)
        assert (once.producer_id, once.producer_epoch) == (NEW_ID, 0)
        twice = initialized(once, expected)
        assert (twice.producer_id, twice.producer_epoch) == (NEW_ID, 0)

    def test_another_one_with_the_old_id_is_fenced(self) -> None:
        taken_over = initialized(self.EXHAUSTED)
        expected = ExpectedProducer(7, CLIENT_EPOCH_MAX)
        assert refusal(taken_over, expected) is ErrorCode.PRODUCER_FENCED
        assert refusal(taken_over, ExpectedProducer(7, 5)) is ErrorCode.PRODUCER_FENCED

    def test_wrong_epoch_is_fenced(self) -> None:
        assert refusal(self.EXHAUSTED, ExpectedProducer(7, 9)) is ErrorCode.PRODUCER_FENCED

    def test_last_epoch_before_exhaustion_is_given_out(self) -> None:
        after = initialized(KNOWN._replace(producer_epoch=CLIENT_EPOCH_MAX - 1))
        assert (after.producer_id, after.producer_epoch) == (7, CLIENT_EPOCH_MAX)
