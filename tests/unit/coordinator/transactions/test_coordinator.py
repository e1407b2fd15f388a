"""The coordinator over its log: what is answered when, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.coordinator.transactions.describing import TransactionFilter
from ottla.coordinator.transactions.initializing import ExpectedProducer
from ottla.coordinator.transactions.producer import ClaimedProducer
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import CLIENT_EPOCH_MAX, EPOCH_MAX, NO_TIMEOUT_MS
from ottla.coordinator.transactions.versions import TV_0
from ottla.model import ErrorCode
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.coordinator.transaction_shard import (
    FIRST_PRODUCER_ID,
    ID,
    ORDERS,
    PAYMENTS,
    TIMEOUT_MS,
    TransactionShard,
)


@pytest.fixture
def shard() -> TransactionShard:
    return TransactionShard()


# ---- producers


def test_producers_of_one_id_follow_each_other_by_epochs(shard: TransactionShard) -> None:
    assert shard.new_producer() == (ID, FIRST_PRODUCER_ID, 0)
    assert shard.new_producer() == (ID, FIRST_PRODUCER_ID, 1)


def test_each_transactional_id_has_a_producer_id_of_its_own(shard: TransactionShard) -> None:
    shard.new_producer()
    other = shard.init(transactional_id="other").value
    assert (other.producer_id, other.producer_epoch) == (FIRST_PRODUCER_ID + 1, 0)


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_timeout_has_limits(shard: TransactionShard, timeout_ms: int) -> None:
    answer = shard.init(timeout_ms=timeout_ms)
    assert answer.error is ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert not shard.log.batches


def test_without_producer_ids_a_client_is_to_retry(shard: TransactionShard) -> None:
    shard.next_producer_id = None
    assert shard.init().error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_nothing_is_answered_before_it_is_committed(shard: TransactionShard) -> None:
    shard.log.is_held = True
    answer = shard.init()
    assert not answer.is_there
    shard.log.commit()
    assert answer.value.producer_epoch == 0


def test_append_that_fails_changes_nothing(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
    assert shard.add(producer).error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert shard.init().error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert shard.is_in(TransactionState.EMPTY)
    assert shard.transaction.producer_epoch == 0
    shard.log.refusal = None
    assert shard.add(producer).error is ErrorCode.NONE


def test_producer_that_goes_on_is_answered_twice_the_same(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    expected = ExpectedProducer(producer.producer_id, producer.producer_epoch)
    assert shard.new_producer(expected=expected).producer_epoch == 1
    assert shard.new_producer(expected=expected).producer_epoch == 1
    assert shard.transaction.producer_epoch == 1


# ---- transactions


@pytest.mark.parametrize("commits", [True, False])
def test_transaction_from_its_beginning_to_its_end(shard: TransactionShard, commits: bool) -> None:
    producer = shard.new_producer()
    assert shard.add(producer, ORDERS).error is ErrorCode.NONE
    assert shard.add(producer, PAYMENTS).error is ErrorCode.NONE
    answer = shard.end(producer, commits=commits)
    assert (answer.value.producer_id, answer.value.producer_epoch) == (producer.producer_id, 1)
    (markers,) = shard.markers.requested
    assert markers.partitions == {ORDERS, PAYMENTS}
    assert markers.is_commit is commits
    assert (markers.producer_epoch, markers.transaction_version) == (1, 2)
    assert shard.transaction.state.is_prepared
    shard.markers_written()
    complete = TransactionState.COMPLETE_COMMIT if commits else TransactionState.COMPLETE_ABORT
    assert shard.is_in(complete)
    assert not shard.transaction.partitions


def test_partition_that_is_in_the_transaction_is_not_written_again(
    shard: TransactionShard,
) -> None:
    producer = shard.new_producer()
    shard.add(producer, ORDERS)
    written = len(shard.log.batches)
    assert shard.add(producer, ORDERS).error is ErrorCode.NONE
    assert len(shard.log.batches) == written


def test_markers_are_not_written_before_the_decision_is_committed(
    shard: TransactionShard,
) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.log.is_held = True
    answer = shard.end(producer, commits=True)
    assert (answer.value, shard.markers.requested) == (None, [])
    shard.log.commit()
    # The answer goes first.
    assert (answer.error, shard.markers.requested) == (ErrorCode.NONE, [])
    shard.carry_on()
    assert len(shard.markers.requested) == 1


def test_markers_of_a_decision_that_is_committed_late_are_written(
    shard: TransactionShard,
) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.log.is_held = True
    answer = shard.end(producer, commits=True)
    shard.clock.advance(6)
    assert answer.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert not shard.markers.requested
    shard.log.commit()
    shard.clock.advance(1)
    assert [each.is_commit for each in shard.markers.requested] == [True]


def test_decision_that_could_not_be_appended_can_be_made_again(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
    assert shard.end(producer, commits=True).error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert shard.is_in(TransactionState.ONGOING)
    shard.log.refusal = None
    # However long the producer takes for that, within its timeout.
    shard.clock.advance(TIMEOUT_MS / 1_000 - 1)
    assert shard.end(producer, commits=True).error is ErrorCode.NONE


def test_end_is_appended_again_until_it_is_there(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.end(producer, commits=True)
    shard.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
    shard.markers_written()
    assert shard.is_in(TransactionState.PREPARE_COMMIT)
    shard.log.refusal = None
    shard.clock.advance(1)
    assert shard.is_in(TransactionState.COMPLETE_COMMIT)


def test_abort_without_partitions_is_complete_at_once(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    assert shard.end(producer, commits=False).value.producer_epoch == 1
    assert shard.is_in(TransactionState.COMPLETE_ABORT)
    assert not shard.markers.requested


def test_exhausted_epochs_end_with_a_new_producer_id(shard: TransactionShard) -> None:
    producer = shard.new_producer_at(CLIENT_EPOCH_MAX)
    shard.add(producer)
    answer = shard.end(producer, commits=True).value
    assert (answer.producer_id, answer.producer_epoch) == (FIRST_PRODUCER_ID + 1, 0)
    (markers,) = shard.markers.requested
    assert (markers.producer_id, markers.producer_epoch) == (FIRST_PRODUCER_ID, EPOCH_MAX)
    shard.markers_written()
    again = shard.end(producer, commits=True).value
    assert (again.producer_id, again.producer_epoch) == (FIRST_PRODUCER_ID + 1, 0)
    assert shard.add(ClaimedProducer(ID, again.producer_id, 0)).error is ErrorCode.NONE


def test_whose_id_is_not_known_has_no_transaction(shard: TransactionShard) -> None:
    unknown = ClaimedProducer("nobody", 1, 0)
    assert shard.add(unknown).error is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert shard.end(unknown, commits=True).error is ErrorCode.INVALID_PRODUCER_ID_MAPPING


# ---- time


def test_transaction_that_takes_too_long_is_aborted(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.clock.advance(TIMEOUT_MS / 1_000 - 1)
    assert not shard.markers.requested
    shard.clock.advance(1)
    (markers,) = shard.markers.requested
    assert not markers.is_commit
    assert markers.producer_epoch == producer.producer_epoch + 1
    assert shard.metrics.timed_out.value == 1
    shard.markers_written()
    assert shard.add(producer).error is ErrorCode.PRODUCER_FENCED


def test_timeout_that_could_not_be_written_comes_again(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
    shard.clock.advance(TIMEOUT_MS / 1_000 + 5)
    assert shard.is_in(TransactionState.ONGOING)
    shard.log.refusal = None
    shard.clock.advance(1)
    assert [each.is_commit for each in shard.markers.requested] == [False]


def test_timeout_that_finds_no_producer_id_comes_again(shard: TransactionShard) -> None:
    producer = shard.new_producer_at(CLIENT_EPOCH_MAX)
    shard.add(producer)
    shard.next_producer_id = None
    shard.clock.advance(TIMEOUT_MS / 1_000 + 5)
    assert shard.is_in(TransactionState.ONGOING)
    assert shard.metrics.timed_out.value == 0
    shard.next_producer_id = 5_000
    shard.clock.advance(1)
    assert [each.is_commit for each in shard.markers.requested] == [False]
    assert shard.metrics.timed_out.value == 1


def test_timeout_counts_from_the_beginning_of_each_transaction(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.clock.advance(TIMEOUT_MS / 1_000)
    for _ in range(3):
        producer = shard.transact(producer)
        shard.clock.advance(TIMEOUT_MS / 1_000 - 1)
    assert shard.add(producer).error is ErrorCode.NONE
    shard.clock.advance(TIMEOUT_MS / 1_000 - 1)
    assert shard.end(producer, commits=True).error is ErrorCode.NONE
    assert shard.metrics.timed_out.value == 0


def test_transaction_that_a_faster_clock_began_has_its_timeout_at_most(
    shard: TransactionShard,
) -> None:
    shard.add(shard.new_producer())
    behind = SimulatedClock()
    behind.jump_wall_clock(-600_000)
    successor = TransactionShard(shard.log, clock=behind)
    behind.advance(TIMEOUT_MS / 1_000)
    assert successor.is_in(TransactionState.PREPARE_ABORT)


def test_timeout_whose_abort_could_not_be_appended_comes_again(shard: TransactionShard) -> None:
    shard.add(shard.new_producer())
    shard.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
    shard.clock.advance(TIMEOUT_MS / 1_000)
    assert shard.is_in(TransactionState.ONGOING)
    shard.log.refusal = None
    shard.clock.advance(1)
    assert shard.is_in(TransactionState.PREPARE_ABORT)


def test_timeout_of_exhausted_epochs_overflows_nothing(shard: TransactionShard) -> None:
    shard.add(shard.new_producer_at(CLIENT_EPOCH_MAX))
    shard.clock.advance(TIMEOUT_MS / 1_000)
    shard.markers_written()
    after = shard.transaction
    assert (after.producer_id, after.producer_epoch) == (FIRST_PRODUCER_ID + 1, 0)


def test_id_that_was_not_used_for_long_expires() -> None:
    shard = TransactionShard(configs={"transactional.id.expiration.ms": "100000"})
    producer = shard.new_producer()
    shard.clock.advance(99)
    shard.shard.perform(lambda machine: machine.expire())
    assert len(shard.machine.transactions) == 1
    shard.clock.advance(1)
    shard.shard.perform(lambda machine: machine.expire())
    assert len(shard.machine.transactions) == 0
    assert shard.add(producer).error is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert len(shard.failover().machine.transactions) == 0


def test_id_with_a_transaction_does_not_expire() -> None:
    shard = TransactionShard(configs={"transactional.id.expiration.ms": "1"})
    producer = shard.new_producer()
    shard.add(producer)
    shard.clock.advance(10)
    shard.shard.perform(lambda machine: machine.expire())
    shard.end(producer, commits=True)
    shard.clock.advance(10)
    shard.shard.perform(lambda machine: machine.expire())
    assert shard.is_in(TransactionState.PREPARE_COMMIT)


def test_many_ids_expire_a_few_at_a_time() -> None:
    shard = TransactionShard(configs={"transactional.id.expiration.ms": "1"})
    for number in range(2_500):
        shard.init(transactional_id=f"id-{number}")
    shard.clock.advance(1)
    batches = len(shard.log.batches)
    shard.shard.perform(lambda machine: machine.expire())
    assert len(shard.machine.transactions) == 0
    assert len(shard.log.batches) == batches + 3


# ---- failover


def test_next_coordinator_goes_on_with_an_ongoing_transaction(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer, ORDERS)
    after = shard.failover()
    assert shard.markers.is_closed
    assert after.add(producer, PAYMENTS).error is ErrorCode.NONE
    assert after.end(producer, commits=True).error is ErrorCode.NONE
    assert after.markers.requested[0].partitions == {ORDERS, PAYMENTS}


def test_next_coordinator_times_out_what_is_ongoing(shard: TransactionShard) -> None:
    shard.add(shard.new_producer())
    shard.clock.advance(TIMEOUT_MS / 1_000 - 1)
    after = shard.failover()
    shard.clock.advance(1)
    assert [each.is_commit for each in after.markers.requested] == [False]


@pytest.mark.parametrize("commits", [True, False])
def test_next_coordinator_writes_the_markers_of_what_is_decided(
    shard: TransactionShard, commits: bool
) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.end(producer, commits=commits)
    after = shard.failover()
    after.clock.advance(0)
    assert [each.is_commit for each in after.markers.requested] == [commits]
    assert [each.producer_epoch for each in after.markers.requested] == [1]
    after.markers_written()
    assert not after.transaction.state.is_prepared


def test_next_coordinator_writes_no_markers_before_the_decision_is_committed(
    shard: TransactionShard,
) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    shard.log.is_held = True
    shard.end(producer, commits=True)
    after = shard.failover()
    after.clock.advance(0)
    assert not after.markers.requested
    after.log.commit()
    assert after.markers.requested


def test_end_is_recognised_after_a_failover(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.transact(producer)
    after = shard.failover()
    assert after.end(producer, commits=True).value.producer_epoch == 1


def test_new_producer_id_survives_a_failover_between_decision_and_markers(
    shard: TransactionShard,
) -> None:
    producer = shard.new_producer_at(CLIENT_EPOCH_MAX)
    shard.add(producer)
    shard.end(producer, commits=True)
    after = shard.failover()
    after.clock.advance(0)
    after.markers_written()
    again = after.end(producer, commits=True).value
    assert (again.producer_id, again.producer_epoch) == (FIRST_PRODUCER_ID + 1, 0)


# ---- people and numbers


def test_transactions_are_listed_by_what_they_are(shard: TransactionShard) -> None:
    shard.add(shard.new_producer())
    shard.init(transactional_id="idle")
    everything: dict[str, Any] = {
        "states": None,
        "producer_ids": (),
        "duration_ms": -1,
        "id_matches": lambda _id: True,
    }

    def listed(**markers: Any) -> list[str]:
        found = shard.machine.list_transactions(TransactionFilter(**{**everything, **markers}))
        return [each.transactional_id for each in found]

    assert listed() == [ID, "idle"]
    assert listed(states={TransactionState.ONGOING}) == [ID]
    assert listed(states=set()) == []
    assert listed(producer_ids={FIRST_PRODUCER_ID + 1}) == ["idle"]
    assert listed(id_matches=lambda name: name == "idle") == ["idle"]
    shard.clock.advance(10)
    assert ID in listed(duration_ms=9_999)
    assert ID not in listed(duration_ms=10_000)


def test_transaction_is_described_with_its_partitions(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer, PAYMENTS, ORDERS)
    described = shard.machine.describe(ID)
    assert described.transaction_state == "Ongoing"
    assert described.transaction_timeout_ms == TIMEOUT_MS
    assert (described.producer_id, described.producer_epoch) == producer[1:]
    assert [(each.topic, each.partitions) for each in described.topics] == [
        ("orders", [0]),
        ("payments", [3]),
    ]


def test_open_transactions_are_counted(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer)
    assert len(shard.machine.open_since) == 1
    shard.end(producer, commits=False)
    shard.markers_written()
    assert not shard.machine.open_since
    assert shard.metrics.aborted.value == 1
    shard.add(ClaimedProducer(ID, producer.producer_id, 1))
    after = shard.failover()
    assert len(after.machine.open_since) == 1


# ---- outside coordinators


def test_outside_coordinators_need_permission(shard: TransactionShard) -> None:
    assert shard.init(enable2_pc=True).error is ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_transaction_of_an_outside_coordinator_is_never_timed_out() -> None:
    shard = TransactionShard(configs={"transaction.two.phase.commit.enable": "true"})
    producer = shard.new_producer(enable2_pc=True, timeout_ms=0)
    assert shard.transaction.timeout_ms == NO_TIMEOUT_MS
    shard.add(producer)
    after = shard.failover()
    shard.clock.advance(NO_TIMEOUT_MS / 1_000)
    assert after.is_in(TransactionState.ONGOING)
    assert after.end(producer, commits=True).error is ErrorCode.NONE


def test_prepared_transaction_cannot_be_kept_as_in_kafka(shard: TransactionShard) -> None:
    assert shard.init(keep_prepared_txn=True).error is ErrorCode.UNSUPPORTED_VERSION


# ---- the older protocol


def test_older_protocol_keeps_an_epoch_for_many_transactions() -> None:
    shard = TransactionShard(version=TV_0)
    producer = shard.new_producer()
    for commits in (True, False, True):
        assert shard.add(producer, version=TV_0).error is ErrorCode.NONE
        assert shard.end(producer, commits=commits, version=TV_0).error is ErrorCode.NONE
        assert shard.markers.requested[0].producer_epoch == 0
        assert shard.markers.requested[0].transaction_version == TV_0
        shard.markers_written()
    assert shard.transaction.producer_epoch == 0


def test_client_of_the_older_protocol_is_fenced_by_a_timeout(shard: TransactionShard) -> None:
    producer = shard.new_producer()
    shard.add(producer, version=TV_0)
    shard.clock.advance(TIMEOUT_MS / 1_000)
    shard.markers_written()
    answer = shard.end(producer, commits=True, version=TV_0)
    assert answer.error is ErrorCode.PRODUCER_FENCED
