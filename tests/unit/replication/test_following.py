"""A follower makes its log its leader's."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.replication.following import (
    apply_fetched,
    fetch_position,
    restart_in_range,
    truncate_to_agree,
)
from ottla.storage.epochs.epoch_cache import EpochEnd
from ottla.wire.messages.fetch import PartitionData
from tests.support.replication.replicas import new_follower, registered
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import NOW_MS, as_leader_has_it, fetched, new_log


def data(
    records: bytearray | None = None, *, high_watermark: int = 0, log_start: int = 0
) -> PartitionData:
    return PartitionData(records=records, high_watermark=high_watermark, log_start_offset=log_start)


def test_what_was_fetched_is_appended_and_not_fetched_again() -> None:
    partition = new_follower(leader_epoch=3)
    assert fetch_position(partition, bytes_max=7).last_fetched_epoch == -1
    assert apply_fetched(partition, data(fetched(1, 1, epoch=2)), now_ms=NOW_MS)
    position = fetch_position(partition, bytes_max=7)
    assert (position.fetch_offset, position.last_fetched_epoch) == (2, 2)
    assert (position.current_leader_epoch, position.partition_max_bytes) == (3, 7)


def test_the_high_watermark_follows_as_far_as_the_log_goes() -> None:
    partition, looked = new_follower(), list[int]()
    partition.when_committed("consumer", looked.append)
    apply_fetched(partition, data(fetched(1, 1), high_watermark=9), now_ms=NOW_MS)
    assert partition.require_log().high_watermark == 2
    assert len(looked) == 1
    assert not apply_fetched(partition, data(high_watermark=1), now_ms=NOW_MS)
    assert partition.require_log().high_watermark == 2


def test_the_start_of_the_log_follows() -> None:
    partition = new_follower()
    apply_fetched(partition, data(fetched(1, 1, 1), high_watermark=3), now_ms=NOW_MS)
    assert apply_fetched(partition, data(high_watermark=3, log_start=2), now_ms=NOW_MS)
    assert fetch_position(partition, bytes_max=1).log_start_offset == 2


def test_damaged_batches_are_refused() -> None:
    partition, batches = new_follower(), fetched(5)
    batches[-1] ^= 1
    with pytest.raises(KafkaError) as refused:
        apply_fetched(partition, data(batches), now_ms=NOW_MS)
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


def test_what_is_of_a_later_epoch_than_the_leaders_is_not_taken() -> None:
    """Its leader has cut its log and follows another while the answer was on its way."""
    partition, batches = new_follower(leader_epoch=1), fetched(1, 1, epoch=1)
    batches += fetched(1, start=2, epoch=2)
    batches += fetched(1, start=3, epoch=1)
    assert apply_fetched(partition, data(batches, high_watermark=4), now_ms=NOW_MS)
    log = partition.require_log()
    assert (log.log_end_offset, log.high_watermark, log.epochs.latest_epoch) == (2, 2, 1)
    assert not apply_fetched(partition, data(fetched(1, start=2, epoch=2)), now_ms=NOW_MS)
    # Once it follows the other one they are what it wants.
    partition.become_follower(registered(leader_epoch=2, partition_epoch=9))
    assert apply_fetched(partition, data(fetched(1, start=2, epoch=2)), now_ms=NOW_MS)


def test_a_log_that_starts_within_a_batch_takes_the_whole_batch() -> None:
    log = new_log()
    log.truncate_fully(2, now_ms=NOW_MS)
    partition = new_follower(log)
    batch = as_leader_has_it(batch_of(b"a", b"b", b"c", b"d"), base_offset=0)
    apply_fetched(partition, data(batch, high_watermark=4, log_start=2), now_ms=NOW_MS)
    assert (log.log_start_offset, log.log_end_offset) == (2, 4)


def test_a_batch_of_a_later_epoch_moves_no_start() -> None:
    log = new_log()
    log.truncate_fully(2, now_ms=NOW_MS)
    partition = new_follower(log, leader_epoch=1)
    batch = as_leader_has_it(batch_of(b"a", b"b", b"c"), base_offset=0, epoch=2)
    assert not apply_fetched(partition, data(batch, log_start=2), now_ms=NOW_MS)
    assert (log.log_start_offset, log.log_end_offset) == (2, 2)


@pytest.mark.parametrize(
    ("leaders", "end"),
    [
        # The epoch is known here: it ended where its first leader ended it.
        (EpochEnd(1, 3), 3),
        (EpochEnd(1, 5), 4),
        # It is not: everything of later epochs goes, and the next fetch asks again.
        (EpochEnd(2, 9), 4),
        (EpochEnd(0, 1), 1),
        (EpochEnd(4, 5), 5),
    ],
)
def test_the_log_is_cut_to_where_it_agrees(leaders: EpochEnd, end: int) -> None:
    partition = new_follower(leader_epoch=5)
    batches = fetched(1, 1, epoch=0)
    batches += fetched(1, 1, start=2, epoch=1)
    batches += fetched(1, 1, start=4, epoch=4)
    apply_fetched(partition, data(batches), now_ms=NOW_MS)
    truncate_to_agree(partition, leaders, now_ms=NOW_MS)
    assert partition.require_log().log_end_offset == end


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [(5, 9, (5, 5)), (0, 1, (0, 1)), (0, 9, (0, 3))],
)
def test_out_of_range_goes_on_where_the_leader_has_something(
    start: int, end: int, found: tuple[int, int]
) -> None:
    partition = new_follower()
    apply_fetched(partition, data(fetched(1, 1, 1)), now_ms=NOW_MS)
    restart_in_range(partition, leader_start=start, leader_end=end, now_ms=NOW_MS)
    log = partition.require_log()
    assert (log.log_start_offset, log.log_end_offset) == found


def test_following_begins_anew_with_every_epoch_and_no_sooner() -> None:
    partition = new_follower(leader_epoch=1, partition_epoch=1)
    assert not partition.become_follower(registered(leader_epoch=1, partition_epoch=2))
    assert partition.become_follower(registered(leader=3, leader_epoch=2, partition_epoch=3))
    assert (partition.leader, partition.leader_epoch) == (3, 2)
    assert not partition.become_follower(registered(leader=1, leader_epoch=2, partition_epoch=2))
    assert partition.leader == 3
