"""Who is in sync: as the leader sees it, and as the controller has it."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.replication.isr_change import CommittedIsr
from tests.support.controller.brokers import broker
from tests.support.replication.replicas import LAG_MAX_MS, Leader, registered
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import append, new_log


def test_a_follower_that_stays_behind_leaves_the_isr() -> None:
    leader = Leader()
    leader.fetch(2, 0)
    leader.fetch(3, 0)
    results = leader.append()
    leader.fetch(2, 1)
    leader.now_ms = LAG_MAX_MS
    leader.partition.maybe_shrink_isr(now_ms=leader.now_ms)
    assert not leader.proposed
    leader.now_ms += 1
    leader.partition.maybe_shrink_isr(now_ms=leader.now_ms)
    (change,) = leader.proposed
    assert [tuple(each) for each in change.new_isr] == [(1, 10), (2, 20)]
    assert not results, "the controller may still elect the one that lags"
    leader.commit()
    assert results == [ErrorCode.NONE]
    assert leader.partition.isr == {1, 2}


def test_idle_followers_stay_however_seldom_their_fetches_name_the_partition() -> None:
    leader = Leader()
    leader.fetch(2, 0)
    leader.fetch(3, 0)
    for _ in range(10):
        leader.now_ms += LAG_MAX_MS // 2
        leader.partition.maybe_shrink_isr(now_ms=leader.now_ms)
    leader.append()
    leader.now_ms += LAG_MAX_MS // 2
    leader.partition.maybe_shrink_isr(now_ms=leader.now_ms)
    assert not leader.proposed


def test_a_follower_that_is_always_a_little_behind_is_in_sync() -> None:
    leader = Leader(isr=(1, 2), replicas=(1, 2))
    for end in range(1, 50):
        leader.append(acks=1)
        leader.now_ms += LAG_MAX_MS // 4
        leader.fetch(2, end - 1)
        leader.partition.maybe_shrink_isr(now_ms=leader.now_ms)
    assert not leader.proposed


def test_a_follower_that_caught_up_joins_and_counts_before_the_controller_has_answered() -> None:
    leader = Leader(isr=(1, 2))
    leader.append()
    leader.fetch(2, 1)
    leader.fetch(3, 0)
    assert not leader.proposed
    leader.fetch(3, 1)
    (change,) = leader.proposed
    assert [each.id for each in change.new_isr] == [1, 2, 3]
    leader.append()
    leader.fetch(2, 2)
    assert leader.log.high_watermark == 1
    leader.commit()
    assert leader.partition.isr == {1, 2, 3}
    assert leader.partition.partition_epoch == 1
    assert leader.log.high_watermark == 1
    leader.fetch(3, 2)
    assert leader.log.high_watermark == 2


def test_a_follower_that_has_everything_joins_when_its_broker_is_unfenced() -> None:
    leader = Leader(isr=(1, 2))
    leader.brokers[3] = broker(3, epoch=30, fenced=True)
    leader.fetch(3, 0)
    leader.partition.maybe_expand_isr()
    assert not leader.proposed
    leader.brokers[3] = broker(3, epoch=30)
    leader.partition.maybe_expand_isr()
    (change,) = leader.proposed
    assert [each.id for each in change.new_isr] == [1, 2, 3]


def test_a_follower_that_has_registered_anew_has_to_fetch_before_it_joins() -> None:
    leader = Leader(isr=(1, 2))
    leader.brokers[3] = broker(3, epoch=30, fenced=True)
    leader.fetch(3, 0)
    leader.brokers[3] = broker(3, epoch=31)
    leader.partition.maybe_expand_isr()
    assert not leader.proposed


def test_a_follower_that_could_not_be_proposed_yet_is_when_the_other_one_is_in() -> None:
    leader = Leader(isr=(1,))
    leader.fetch(2, 0)
    leader.fetch(3, 0)
    assert [each.id for each in leader.proposed[-1].new_isr] == [1, 2]
    leader.commit()
    assert [each.id for each in leader.proposed[-1].new_isr] == [1, 2, 3]


def test_what_a_follower_had_in_the_epoch_before_does_not_count() -> None:
    leader = Leader(isr=(1, 2), replicas=(1, 2))
    results = leader.append()
    leader.become(isr=(1, 2), replicas=(1, 2), leader_epoch=2, partition_epoch=2)
    assert not results, "it was another's follower meanwhile, and may have lost it again"
    leader.fetch(2, 1)
    assert results == [ErrorCode.NONE]


@pytest.mark.parametrize("follows_between", [True, False])
def test_how_far_a_follower_was_in_an_earlier_epoch_of_the_same_leader_does_not_count(
    follows_between: bool,
) -> None:
    leader = Leader(leader_epoch=5)
    leader.append(3)
    leader.fetch(2, 3)
    leader.fetch(3, 0)
    assert leader.log.high_watermark == 0
    if follows_between:
        leader.partition.become_follower(registered(leader=2, leader_epoch=6, partition_epoch=1))
    leader.become(isr=(1, 2), leader_epoch=7, partition_epoch=2)
    assert leader.log.high_watermark == 0, "node 2 may have truncated what it had in epoch 5"
    leader.fetch(2, 1)
    assert leader.log.high_watermark == 1
    leader.fetch(2, 3)
    assert leader.log.high_watermark == 3


@pytest.mark.parametrize("follows_between", [True, False])
def test_a_follower_joins_for_what_it_has_in_this_epoch_of_the_leader(
    follows_between: bool,
) -> None:
    leader = Leader(isr=(1,), replicas=(1, 2), leader_epoch=5)
    leader.brokers[2] = broker(2, epoch=20, fenced=True)
    leader.append(3)
    leader.fetch(2, 3)
    leader.brokers[2] = broker(2, epoch=20)
    if follows_between:
        following = registered(replicas=(1, 2), leader=2, leader_epoch=6, partition_epoch=1)
        leader.partition.become_follower(following)
    leader.become(isr=(1,), replicas=(1, 2), leader_epoch=7, partition_epoch=2)
    leader.partition.maybe_shrink_isr(now_ms=leader.now_ms)
    assert not leader.proposed
    leader.fetch(2, 3)
    assert len(leader.proposed) == 1


def test_a_follower_has_to_reach_the_beginning_of_the_epoch_to_join() -> None:
    leader = Leader(isr=(1, 2))
    leader.append(3, acks=1)
    leader.become(isr=(1, 2), leader_epoch=1, partition_epoch=1)
    leader.fetch(3, 2)
    assert leader.log.high_watermark == 0
    assert not leader.proposed
    leader.fetch(3, 3)
    assert len(leader.proposed) == 1


def test_a_leader_that_was_restarted_begins_its_epoch_where_its_log_ends() -> None:
    log = new_log()
    for _ in range(3):
        append(log, batch_of(b"v"))
    leader = Leader(log, isr=(1, 2), made_under=4, leader_epoch=4)
    leader.fetch(3, 2)
    assert not leader.proposed
    leader.fetch(3, 3)
    assert len(leader.proposed) == 1


@pytest.mark.parametrize(
    "known",
    [
        None,
        broker(3, epoch=30, fenced=True),
        broker(3, epoch=30, shutting_down=True),
        broker(3, epoch=29),
    ],
)
def test_brokers_that_are_not_active_under_that_epoch_cannot_join(known: object) -> None:
    leader = Leader(isr=(1, 2))
    leader.brokers[3] = known  # type: ignore[assignment]  # unknown brokers are None
    leader.fetch(3, 0, broker_epoch=30)
    assert not leader.proposed


def test_fetches_of_an_earlier_incarnation_are_refused() -> None:
    leader = Leader()
    leader.append()
    leader.brokers[2] = broker(2, epoch=21)
    with pytest.raises(KafkaError) as refused:
        leader.fetch(2, 1, broker_epoch=20)
    assert refused.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_replica_that_is_not_known_yet_should_retry() -> None:
    leader = Leader(replicas=(1, 2), isr=(1, 2))
    with pytest.raises(KafkaError) as refused:
        leader.fetch(3, 0)
    assert refused.value.code is ErrorCode.UNKNOWN_LEADER_EPOCH


def test_one_change_is_under_way_at_a_time() -> None:
    leader = Leader(isr=(1,))
    leader.fetch(2, 0)
    leader.fetch(3, 0)
    assert len(leader.proposed) == 1
    leader.commit()
    leader.fetch(3, 0)
    assert len(leader.proposed) == 2


@pytest.mark.parametrize(
    ("error", "proposals"),
    [
        (ErrorCode.INELIGIBLE_REPLICA, 2),
        (ErrorCode.OPERATION_NOT_ATTEMPTED, 2),
        (ErrorCode.INVALID_UPDATE_VERSION, 1),
        (ErrorCode.FENCED_LEADER_EPOCH, 1),
        (ErrorCode.NEW_LEADER_ELECTED, 1),
    ],
)
def test_a_refused_change_is_made_anew_only_if_it_surely_was_not_made(
    error: ErrorCode, proposals: int
) -> None:
    leader = Leader(isr=(1, 2))
    leader.fetch(3, 0)
    leader.partition.isr_change_refused(leader.proposed[0], error)
    leader.fetch(3, 0)
    assert len(leader.proposed) == proposals


def test_a_change_that_failed_for_an_unknown_reason_is_proposed_again() -> None:
    leader = Leader(isr=(1, 2))
    leader.fetch(3, 0)
    leader.partition.isr_change_refused(leader.proposed[0], ErrorCode.UNKNOWN_SERVER_ERROR)
    assert leader.proposed == leader.proposed[:1] * 2


def test_an_answer_that_newer_metadata_overtook_is_ignored() -> None:
    leader = Leader(isr=(1, 2))
    leader.fetch(3, 0)
    overtaken = leader.proposed[0]
    leader.become(isr=(1,), partition_epoch=5)
    leader.partition.isr_change_committed(overtaken, CommittedIsr(0, 1, (1, 2, 3)))
    assert leader.partition.isr == {1}
    assert leader.partition.partition_epoch == 5


def test_metadata_older_than_an_answer_does_not_undo_the_next_proposal() -> None:
    leader = Leader(isr=(1,))
    leader.fetch(2, 0)
    leader.commit()
    leader.fetch(3, 0)
    assert not leader.become(isr=(1, 2), partition_epoch=1)
    leader.append()
    leader.fetch(2, 1)
    assert leader.log.high_watermark == 0, "node 3 may be in the ISR by now"
