"""The phases of an assigned partition."""

from __future__ import annotations

from ottla.client.consuming.assigned_partition import AssignedPartition, Phase
from ottla.client.consuming.decoding.fetched_batches import FetchedBatches
from ottla.client.consuming.offset_reset import EARLIEST
from ottla.client.consuming.record_queue import ReadPosition
from ottla.model import Offset, TimestampMs, TopicPartition
from ottla.wire.records import Record, build_batch


def fetching(offset: int = 0, epoch: int = 4) -> AssignedPartition:
    partition = AssignedPartition(TopicPartition("t", 0))
    partition.seek(ReadPosition(offset, epoch))
    partition.validated(epoch)
    return partition


def append(partition: AssignedPartition, count: int) -> None:
    first = partition.fetch_position.offset
    records = [Record(Offset(first + index), TimestampMs(0), None, b"") for index in range(count)]
    data = build_batch(records)
    fetched = FetchedBatches(data, (), position=first, is_read_committed=False, checks_crcs=True)
    partition.append(fetched, len(data), ReadPosition(first + count, 4))


def test_a_new_leader_has_the_position_validated_again() -> None:
    partition = fetching()
    version = partition.version
    partition.note_leader_epoch(5)
    assert partition.phase is Phase.VALIDATING
    assert partition.needs_validation
    assert partition.version != version, "responses of the old leader are dropped"


def test_an_old_leader_epoch_changes_nothing() -> None:
    partition = fetching()
    partition.note_leader_epoch(4)
    partition.note_leader_epoch(3)
    assert partition.phase is Phase.FETCHING


def test_a_position_without_an_epoch_has_nothing_to_compare() -> None:
    partition = AssignedPartition(TopicPartition("t", 0))
    partition.seek(ReadPosition(7))
    assert partition.phase is Phase.VALIDATING
    assert not partition.needs_validation


def test_truncation_of_what_was_only_fetched_fetches_it_again() -> None:
    partition = fetching()
    append(partition, 10)
    assert len(partition.queue.take(4)) == 4
    partition.note_leader_epoch(5)
    assert not partition.truncated(ReadPosition(6, 4))
    assert partition.fetch_position.offset == 4
    assert not partition.queue


def test_truncation_of_what_was_read_is_for_the_application_to_know() -> None:
    partition = fetching()
    append(partition, 10)
    partition.queue.take(8)
    partition.note_leader_epoch(5)
    assert partition.truncated(ReadPosition(6, 4))


def test_a_seek_drops_what_was_fetched() -> None:
    partition = fetching()
    append(partition, 10)
    version = partition.version
    partition.seek(ReadPosition(3))
    assert not partition.queue
    assert partition.version != version
    assert partition.position == ReadPosition(3)


def test_a_partition_that_is_reset_has_no_position() -> None:
    partition = fetching(5)
    partition.start_reset(EARLIEST)
    assert partition.phase is Phase.RESETTING
    assert partition.position is None


def test_records_are_fetched_behind_the_position_that_was_handed_out() -> None:
    partition = fetching()
    append(partition, 10)
    assert partition.position == ReadPosition(0, 4)
    assert partition.fetch_position == ReadPosition(10, 4)
    assert len(partition.queue.take(10)) == 10
    assert partition.position is not None
    assert partition.position.offset == 10


def test_what_cannot_be_read_is_fetched_again_before_it_is_an_error() -> None:
    partition = fetching()
    append(partition, 10)
    partition.queue.take(4)
    assert not partition.found_unreadable()
    assert partition.fetch_position.offset == 4
    assert not partition.queue
    assert partition.found_unreadable(), "the same again"
    partition.seek(ReadPosition(5))
    partition.validated(4)
    assert not partition.found_unreadable(), "somewhere else"
