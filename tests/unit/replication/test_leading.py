"""A leader: what is committed, which replicas are in sync, and which callbacks run."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.replication.partition import Isolation
from tests.support.controller.brokers import broker
from tests.support.replication.replicas import (
    BATCH_BYTES,
    LAG_MAX_MS,
    Leader,
    new_partition,
    registered,
)
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import NOW_MS, append, new_log


def refusal(error: pytest.ExceptionInfo[KafkaError]) -> ErrorCode:
    return error.value.code


# ---- the high watermark


def test_alone_everything_is_committed_at_once() -> None:
    leader = Leader(replicas=(1,), isr=(1,))
    assert leader.append(2) == [ErrorCode.NONE] * 2
    assert leader.log.high_watermark == 2


def test_the_high_watermark_is_the_lowest_end_in_the_isr() -> None:
    leader = Leader(isr=(1, 2, 3))
    results = leader.append(5)
    leader.fetch(2, 4)
    assert leader.log.high_watermark == 0
    leader.fetch(3, 3)
    assert leader.log.high_watermark == 3
    assert results == [ErrorCode.NONE] * 3
    leader.fetch(3, 5)
    assert (leader.log.high_watermark, len(results)) == (4, 4)


def test_what_the_leader_has_not_synced_is_not_committed_where_that_counts() -> None:
    leader = Leader(new_log(flush_messages=1), isr=(1, 2))
    results = leader.append(2)
    leader.fetch(2, 2)
    assert (leader.log.high_watermark, results) == (0, [])
    leader.log.flush()
    leader.partition.log_synced()
    assert (leader.log.high_watermark, results) == (2, [ErrorCode.NONE] * 2)


def test_a_sync_commits_no_more_than_the_followers_have() -> None:
    leader = Leader(new_log(flush_messages=1), isr=(1, 2))
    leader.append(3)
    leader.fetch(2, 1)
    leader.log.flush()
    leader.partition.log_synced()
    assert leader.log.high_watermark == 1


def test_alone_what_is_not_synced_is_not_committed_where_that_counts() -> None:
    leader = Leader(new_log(flush_messages=1), replicas=(1,), isr=(1,))
    results = leader.append()
    assert (leader.log.high_watermark, results) == (0, [])
    leader.log.flush()
    leader.partition.log_synced()
    assert (leader.log.high_watermark, results) == (1, [ErrorCode.NONE])


def test_a_replica_outside_the_isr_that_lags_does_not_hold_it_back() -> None:
    leader = Leader(isr=(1, 2))
    leader.append(5)
    leader.fetch(2, 5)
    assert leader.log.high_watermark == 5


def test_a_replica_that_is_about_to_join_holds_it_back() -> None:
    leader = Leader(isr=(1, 2))
    leader.append(3)
    leader.fetch(2, 3)
    leader.fetch(3, 3)
    leader.append()
    leader.fetch(2, 4)
    assert leader.log.high_watermark == 3, "the one that joins does not have it"
    leader.fetch(3, 4)
    assert leader.log.high_watermark == 4


def test_one_that_gave_up_joining_holds_nothing_back() -> None:
    leader = Leader(isr=(1,))
    leader.fetch(2, 0)
    leader.fetch(3, 0)
    leader.commit()
    leader.partition.isr_change_refused(leader.proposed[-1], ErrorCode.INELIGIBLE_REPLICA)
    results = leader.append()
    leader.fetch(2, 1)
    leader.now_ms = LAG_MAX_MS
    leader.partition.maybe_shrink_isr(now_ms=leader.now_ms)
    assert not results, "node 3 was caught up a moment ago and may be proposed again"
    leader.now_ms += 1
    leader.partition.maybe_shrink_isr(now_ms=leader.now_ms)
    assert results == [ErrorCode.NONE]


def test_it_does_not_move_before_it_is_known_who_leads() -> None:
    log = new_log()
    append(log, batch_of(b"maybe no other replica has it"))
    partition = new_partition(log)
    partition.set_min_insync_replicas(1)
    assert log.high_watermark == 0


def test_it_does_not_move_while_too_few_are_in_sync() -> None:
    leader = Leader(isr=(1,))
    leader.partition.set_min_insync_replicas(2)
    leader.append(acks=1)
    assert leader.log.high_watermark == 0
    leader.partition.set_min_insync_replicas(1)
    assert leader.log.high_watermark == 1


def test_no_more_in_sync_replicas_are_required_than_there_are() -> None:
    leader = Leader(replicas=(1, 2), isr=(1, 2))
    leader.partition.set_min_insync_replicas(3)
    results = leader.append()
    leader.fetch(2, 1)
    assert results == [ErrorCode.NONE]


# ---- acknowledgements


def test_too_few_in_sync_replicas_refuse_before_anything_is_appended() -> None:
    leader = Leader(isr=(1,))
    leader.partition.set_min_insync_replicas(2)
    with pytest.raises(KafkaError) as refused:
        leader.append()
    assert refusal(refused) is ErrorCode.NOT_ENOUGH_REPLICAS
    assert leader.log.log_end_offset == 0


def test_an_isr_that_becomes_too_small_refuses_what_waits() -> None:
    leader = Leader(isr=(1, 2, 3))
    leader.partition.set_min_insync_replicas(2)
    results = leader.append()
    leader.become(isr=(1,), partition_epoch=1)
    assert results == [ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND]


def test_waiter_is_called_back_when_leadership_is_lost() -> None:
    leader = Leader()
    results = leader.append(2)
    leader.partition.become_follower(registered(leader=2, leader_epoch=1, partition_epoch=1))
    assert results == [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 2
    with pytest.raises(KafkaError) as refused:
        leader.append()
    assert refusal(refused) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_waiter_is_called_back_when_the_directory_fails() -> None:
    leader = Leader()
    results = leader.append()
    leader.partition.go_offline()
    assert results == [ErrorCode.KAFKA_STORAGE_ERROR]


def test_cancelled_waiter_is_not_called_back() -> None:
    leader, results = Leader(), list[ErrorCode]()
    leader.append(acks=1)
    leader.partition.when_acknowledged(1, results.append).cancel()
    leader.fetch(2, 1)
    leader.fetch(3, 1)
    assert leader.log.high_watermark == 1
    assert not results


# ---- fetches that wait


def test_appends_wake_followers_and_the_high_watermark_wakes_consumers() -> None:
    leader, appended, committed = Leader(isr=(1, 2)), list[int](), list[int]()
    leader.partition.when_appended("follower", appended.append)
    leader.partition.when_committed("consumer", committed.append)
    leader.append(2)
    assert (appended, committed) == ([BATCH_BYTES] * 2, [])
    leader.fetch(2, 2)
    assert committed == [2 * BATCH_BYTES]
    leader.partition.forget("follower")
    leader.partition.forget("consumer")
    leader.append()
    assert (len(appended), len(committed)) == (2, 1)


def test_consumers_see_nothing_above_the_high_watermark_and_followers_everything() -> None:
    leader = Leader()
    leader.append()
    read = leader.partition.read(
        0, bytes_max=1 << 20, isolation=Isolation.READ_UNCOMMITTED, min_one_batch=True
    )
    assert read.records is None
    assert leader.fetch(2, 0).records is not None


def test_waiting_fetch_looks_again_when_the_leader_is_deposed() -> None:
    leader, looked = Leader(), list[int]()
    leader.partition.when_committed("consumer", looked.append)
    leader.partition.become_follower(registered(leader=2, leader_epoch=1, partition_epoch=1))
    assert len(looked) == 1


# ---- what the metadata says


def test_older_metadata_is_ignored() -> None:
    leader = Leader(partition_epoch=7)
    older = registered(leader=2, leader_epoch=0, partition_epoch=6)
    assert not leader.become(isr=(1,), partition_epoch=6)
    assert not leader.partition.become_follower(older)
    assert leader.partition.is_leader
    assert leader.partition.isr == {1, 2, 3}


def test_a_new_epoch_waits_for_every_follower_to_say_how_far_it_is() -> None:
    leader = Leader()
    leader.append()
    leader.fetch(2, 1)
    leader.fetch(3, 1)
    leader.partition.become_follower(registered(leader=2, leader_epoch=1, partition_epoch=1))
    leader.become(leader_epoch=2, partition_epoch=2)
    results = leader.append()
    leader.fetch(2, 2)
    assert not results
    leader.fetch(3, 2)
    assert results == [ErrorCode.NONE]


def test_an_isr_of_one_commits_what_waited() -> None:
    leader = Leader()
    results = leader.append()
    leader.become(isr=(1,), partition_epoch=1)
    assert results == [ErrorCode.NONE]


def test_a_removed_replica_no_longer_counts() -> None:
    leader = Leader()
    results = leader.append()
    leader.fetch(2, 1)
    leader.become(replicas=(1, 2), isr=(1, 2), partition_epoch=1)
    assert results == [ErrorCode.NONE]


@pytest.mark.parametrize(
    ("epoch", "error"),
    [(0, ErrorCode.FENCED_LEADER_EPOCH), (2, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_fetches_under_another_epoch_are_refused(epoch: int, error: ErrorCode) -> None:
    leader = Leader(leader_epoch=1)
    with pytest.raises(KafkaError) as refused:
        leader.fetch(2, 0, leader_epoch=epoch)
    assert refusal(refused) is error


# ---- logs that went another way


def test_a_fetch_response_has_the_end_of_the_followers_last_epoch() -> None:
    leader = Leader()
    leader.append(3, acks=1)
    leader.become(leader_epoch=2, partition_epoch=1)
    leader.append(2, acks=1)
    for last_epoch, offset, expected in [
        (0, 4, (0, 3)),
        (1, 4, (0, 3)),
        (2, 5, None),
        (0, 3, None),
    ]:
        read = leader.fetch(2, offset, last_epoch=last_epoch)
        assert read.diverging_epoch == expected


def test_a_leader_that_has_appended_nothing_knows_its_own_epoch() -> None:
    leader = Leader()
    leader.append(3, acks=1)
    leader.become(leader_epoch=5, partition_epoch=1)
    assert leader.fetch(2, 4, last_epoch=4).diverging_epoch == (0, 3)
    assert leader.fetch(2, 4, last_epoch=5).diverging_epoch == (5, 3)
    with pytest.raises(KafkaError) as refused:
        leader.fetch(2, 3, last_epoch=6)
    assert refusal(refused) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_offsets_of_a_diverging_follower_are_ignored() -> None:
    leader = Leader(replicas=(1, 2), isr=(1, 2))
    leader.append(3, acks=1)
    leader.become(replicas=(1, 2), isr=(1, 2), leader_epoch=1, partition_epoch=1)
    leader.append(2, acks=1)
    leader.fetch(2, 4, last_epoch=0)
    assert leader.log.high_watermark == 0


def test_a_fetch_that_looks_again_says_nothing_new() -> None:
    leader = Leader(replicas=(1, 2), isr=(1, 2))
    leader.append()
    leader.fetch(2, 1, looks_again=True)
    assert leader.log.high_watermark == 0


# ---- reading from followers, deleting


def test_consumers_are_sent_to_followers_in_sync_that_have_the_offset() -> None:
    leader = Leader(isr=(1, 2))
    leader.append(5)
    leader.fetch(2, 5, log_start=2)
    leader.fetch(3, 1)
    leader.now_ms = 7
    assert [tuple(each) for each in leader.partition.read_replicas(3, now_ms=7)] == [(2, 5, 7)]
    assert leader.partition.read_replicas(1, now_ms=7) == []


def test_records_are_deleted_when_every_live_replica_has_deleted_them() -> None:
    leader, results = Leader(isr=(1, 2)), list[ErrorCode]()
    leader.append(5)
    leader.fetch(2, 5)
    leader.fetch(3, 0)
    leader.log.delete_records_before(4)
    leader.partition.when_deleted(4, results.append)
    leader.fetch(2, 5, log_start=4)
    assert (results, leader.partition.low_watermark) == ([], 0)
    leader.brokers[3] = broker(3, epoch=30, fenced=True)
    leader.fetch(2, 5, log_start=4)
    assert results == [ErrorCode.NONE]


def test_a_duplicate_waits_for_its_first_copy() -> None:
    leader, results = Leader(replicas=(1, 2), isr=(1, 2)), list[ErrorCode]()
    for _ in range(2):
        batch = batch_of(b"v", producer_id=1, sequence=0)
        result = leader.partition.append(batch, now_ms=NOW_MS, acks=-1)
        leader.partition.when_acknowledged(result.last_offset + 1, results.append)
    assert result.is_duplicate
    leader.fetch(2, 1)
    assert results == [ErrorCode.NONE] * 2


def test_a_new_leader_learns_from_its_followers_how_far_all_is_committed() -> None:
    log = new_log()
    for _ in range(3):
        append(log, batch_of(b"v"), epoch=1)
    log.advance_high_watermark(1)
    leader = Leader(log, made_under=1, leader_epoch=2, partition_epoch=2)
    settled = [leader.partition.is_high_watermark_settled]
    for node_id, offset in ((2, 3), (3, 2), (3, 3)):
        leader.fetch(node_id, offset, last_epoch=1)
        settled.append(leader.partition.is_high_watermark_settled)
    assert settled == [False, False, False, True]
    leader.append()
    assert leader.partition.is_high_watermark_settled
