"""The order of batches, their sequence numbers, and what starts them anew."""

from __future__ import annotations

import pytest

from ottla.client.producing.batch import NO_IDENTITY, BatchFormat, ProducerBatch, ProducerIdentity
from ottla.client.producing.outcomes import BatchOutcome, outcome
from ottla.client.producing.partition_queue import PartitionQueue
from ottla.model import ErrorCode, ProducerEpoch, ProducerId, TopicPartition
from ottla.wire.records import crc_matches, iterate_records, read_header

FIRST = ProducerIdentity(ProducerId(7), ProducerEpoch(0))
SECOND = ProducerIdentity(ProducerId(7), ProducerEpoch(1))


def queue_of(*sizes: int, in_flight_max: int = 5) -> PartitionQueue:
    """With ready batches of so many records."""
    queue = PartitionQueue(TopicPartition("t", 0), BatchFormat(), in_flight_max=in_flight_max)
    for size in sizes:
        batch = ProducerBatch(queue.partition, 1_000, deadline=9.0, reserved=100)
        for number in range(size):
            batch.add(b"k", b"%d" % number, 1_000 + number, None)
        queue.ready.append(batch)
    return queue


def sent(queue: PartitionQueue, identity: ProducerIdentity = FIRST) -> ProducerBatch:
    batch = queue.next_batch(identity)
    assert batch is not None
    return batch


def header_fields(batch: ProducerBatch) -> tuple[int, int, int]:
    assert batch.sealed is not None
    header = read_header(batch.sealed)
    assert crc_matches(batch.sealed, 0, header)
    return header.producer_id, header.producer_epoch, header.base_sequence


def test_the_first_batch_of_an_identity_is_sent_alone_and_then_five_are() -> None:
    queue = queue_of(2, 1, 1, 1, 1, 1, 1)
    first = sent(queue)
    assert header_fields(first) == (7, 0, 0)
    assert queue.next_batch(FIRST) is None
    queue.acknowledged(first)
    assert [header_fields(sent(queue))[2] for _ in range(5)] == [2, 3, 4, 5, 6]
    assert queue.next_batch(FIRST) is None


def test_the_open_batch_takes_records_until_it_is_sent() -> None:
    queue = queue_of(1)
    first = sent(queue)
    queue.open = ProducerBatch(queue.partition, 1_000, deadline=9.0, reserved=100)
    before = queue.has_sendable
    queue.is_due = True
    assert (before, queue.has_sendable) == (False, True)
    assert not queue.is_open_next(FIRST), "the first is not acknowledged"
    assert queue.next_batch(FIRST) is None
    assert queue.open is not None
    queue.acknowledged(first)
    assert queue.is_open_next(FIRST)
    open_batch = queue.open
    queue.close_open()
    assert sent(queue) is open_batch


def test_without_idempotence_there_are_no_sequence_numbers() -> None:
    queue = queue_of(1, 1)
    assert [header_fields(sent(queue, NO_IDENTITY)) for _ in range(2)] == [(-1, -1, -1)] * 2


def test_a_failed_batch_is_sent_again_alone_before_all_later_ones() -> None:
    queue = queue_of(1, 1, 1, 1)
    queue.acknowledged(sent(queue))
    second, third = sent(queue), sent(queue)
    queue.failed(second, retry_at=0.0)
    assert queue.next_batch(FIRST) is None, "the third is still in flight"
    queue.failed(third, retry_at=0.0)
    assert queue.next_batch(FIRST) is second
    assert queue.next_batch(FIRST) is None, "the second is sent again alone"
    queue.acknowledged(second)
    assert queue.next_batch(FIRST) is third
    assert header_fields(third) == (7, 0, 2)
    queue.acknowledged(third)
    assert header_fields(sent(queue)) == (7, 0, 3)


def test_a_gap_begins_anew_with_the_outstanding_batches_from_zero() -> None:
    queue = queue_of(1, 2, 3)
    queue.acknowledged(sent(queue))
    second, third = sent(queue), sent(queue)
    assert outcome(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, third, queue, retries=9) is (
        BatchOutcome.AGAIN
    )
    assert outcome(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, second, queue, retries=9) is (
        BatchOutcome.RESTART
    )
    for batch in (second, third):
        queue.failed(batch, retry_at=0.0)
    queue.needs_restart = True
    assert queue.next_batch(SECOND) is second
    assert header_fields(second) == (7, 1, 0)
    queue.acknowledged(second)
    assert header_fields(sent(queue, SECOND)) == (7, 1, 2)


def test_another_epoch_waits_until_all_of_the_old_one_is_decided() -> None:
    queue = queue_of(1, 1)
    first = sent(queue)
    assert queue.next_batch(SECOND) is None
    queue.acknowledged(first)
    assert header_fields(sent(queue, SECOND)) == (7, 1, 0)


@pytest.mark.parametrize("was_written", [True, False])
def test_a_batch_that_was_given_up_is_resolved_by_its_followers(was_written: bool) -> None:
    queue = queue_of(1, 1, 1, 1)
    queue.acknowledged(sent(queue))
    lost, follower = sent(queue), sent(queue)
    queue.failed(lost, retry_at=0.0)
    queue.gave_up(lost, is_unresolved=True)
    assert (queue.is_unresolved, queue.needs_restart) == (True, False)
    if was_written:
        queue.acknowledged(follower)
        assert (queue.is_unresolved, queue.needs_restart) == (False, False)
        assert header_fields(sent(queue)) == (7, 0, 3)
    else:
        assert outcome(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, follower, queue, retries=9) is (
            BatchOutcome.RESTART
        )


def test_after_the_last_batch_was_given_up_the_next_begins_anew() -> None:
    queue = queue_of(1, 1)
    lost = sent(queue)
    queue.failed(lost, retry_at=0.0)
    queue.gave_up(lost, is_unresolved=True)
    assert queue.needs_restart
    assert header_fields(sent(queue, SECOND)) == (7, 1, 0)


def test_the_parts_of_a_batch_have_its_records_and_its_sequence_numbers() -> None:
    queue = queue_of(1, 5, 1)
    queue.acknowledged(sent(queue))
    whole, later = sent(queue), sent(queue)
    assert outcome(ErrorCode.MESSAGE_TOO_LARGE, whole, queue, retries=9) is BatchOutcome.SPLIT
    parts = whole.split()
    queue.replaced(whole, parts)
    queue.failed(later, retry_at=0.0)
    assert [header_fields(part)[2] for part in parts] == [1, 3]
    found = [
        (record.timestamp, record.value)
        for part in parts
        for record in iterate_records(part.sealed or b"")
    ]
    assert found == [(1_000 + number, b"%d" % number) for number in range(5)]
    for part in parts:
        assert queue.next_batch(FIRST) is part
        part.complete(40 + part.base_sequence, -1)
        queue.acknowledged(part)
    assert queue.next_batch(FIRST) is later
    assert whole.is_decided()
    assert [whole.metadata(index, 0).offset for index in range(5)] == [41, 42, 43, 44, 45]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (ErrorCode.NONE, BatchOutcome.WRITTEN),
        (ErrorCode.DUPLICATE_SEQUENCE_NUMBER, BatchOutcome.WRITTEN),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, BatchOutcome.AGAIN),
        (ErrorCode.NETWORK_EXCEPTION, BatchOutcome.AGAIN),
        (ErrorCode.UNKNOWN_PRODUCER_ID, BatchOutcome.RESTART),
        (ErrorCode.INVALID_PRODUCER_EPOCH, BatchOutcome.RESTART),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, BatchOutcome.FAILED),
        (ErrorCode.INVALID_RECORD, BatchOutcome.FAILED),
        # A single record cannot be split.
        (ErrorCode.MESSAGE_TOO_LARGE, BatchOutcome.FAILED),
    ],
)
def test_what_an_answer_means_for_the_batch(code: ErrorCode, expected: BatchOutcome) -> None:
    queue = queue_of(1)
    assert outcome(code, sent(queue), queue, retries=9) is expected


def test_retries_end() -> None:
    queue = queue_of(1)
    batch = sent(queue)
    assert outcome(ErrorCode.REQUEST_TIMED_OUT, batch, queue, retries=0) is BatchOutcome.FAILED
