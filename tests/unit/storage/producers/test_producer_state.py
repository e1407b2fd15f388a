from __future__ import annotations

import pytest

from ottla.model import (
    ErrorCode,
    KafkaError,
    LeaderEpoch,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
    TopicPartition,
)
from ottla.storage.producers.producer_entry import BatchMetadata, ProducerEntry
from ottla.storage.producers.producer_state import ProducerState
from ottla.storage.producers.unstable_transactions import CompletedTransaction
from ottla.wire.records.header import MAGIC, BatchHeader, encode_attributes

SEQUENCE_MAX = 2**31 - 1
HOUR_MS = 3_600_000


def batch(
    *,
    producer_id: int = 1,
    epoch: int = 0,
    sequence: int = 0,
    count: int = 1,
    timestamp: int = 1000,
    transactional: bool = False,
    control: bool = False,
) -> BatchHeader:
    return BatchHeader(
        base_offset=Offset(0),
        batch_length=49,
        leader_epoch=LeaderEpoch(0),
        magic=MAGIC,
        crc=0,
        attributes=encode_attributes(is_transactional=transactional, is_control=control),
        last_offset_delta=count - 1,
        base_timestamp=TimestampMs(timestamp),
        max_timestamp=TimestampMs(timestamp),
        producer_id=ProducerId(producer_id),
        producer_epoch=ProducerEpoch(epoch),
        base_sequence=sequence,
        record_count=count,
    )


def marker(*, producer_id: int = 1, epoch: int = 0, timestamp: int = 1000) -> BatchHeader:
    return batch(
        producer_id=producer_id,
        epoch=epoch,
        sequence=-1,
        timestamp=timestamp,
        transactional=True,
        control=True,
    )


def new_state() -> ProducerState:
    return ProducerState(TopicPartition("orders", 0), producer_id_expiration_ms=HOUR_MS)


def append(state: ProducerState, offset: int, header: BatchHeader) -> None:
    assert state.check_client_batch(header) is None
    state.update(header, base_offset=offset)


def end(
    state: ProducerState,
    offset: int,
    header: BatchHeader,
    *,
    coordinator_epoch: int = 0,
    is_abort: bool = False,
) -> CompletedTransaction | None:
    completed = state.update_marker(
        header, base_offset=offset, coordinator_epoch=coordinator_epoch, is_abort=is_abort
    )
    if completed is not None:
        state.complete(completed)
    return completed


def unstable_and_undecided(state: ProducerState) -> tuple[int | None, int | None]:
    return state.first_unstable_offset, state.first_undecided_offset


def refusal(state: ProducerState, header: BatchHeader) -> ErrorCode:
    with pytest.raises(KafkaError) as refused:
        state.check_client_batch(header)
    return refused.value.code


def marker_refusal(
    state: ProducerState,
    header: BatchHeader,
    *,
    coordinator_epoch: int = 0,
    transaction_version: int = 0,
) -> ErrorCode:
    try:
        state.check_marker(
            header, coordinator_epoch=coordinator_epoch, transaction_version=transaction_version
        )
    except KafkaError as refused:
        return refused.code
    return ErrorCode.NONE


def test_retry_of_any_of_the_last_five_batches_is_answered_with_its_offsets() -> None:
    state = new_state()
    for n in range(6):
        header = batch(sequence=10 * n, count=10, timestamp=n)
        append(state, 100 + 10 * n, header)
    for n in range(1, 6):
        known = state.check_client_batch(batch(sequence=10 * n, count=10))
        assert known == BatchMetadata(10 * n + 9, 109 + 10 * n, 9, n)
        assert (known.first_offset, known.first_sequence) == (100 + 10 * n, 10 * n)
    assert refusal(state, batch(count=10)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_part_of_a_known_batch_is_no_retry() -> None:
    state = new_state()
    append(state, 0, batch(count=10))
    assert refusal(state, batch(count=5)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refusal(state, batch(sequence=5, count=5)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_gap_in_the_sequence_is_refused() -> None:
    state = new_state()
    append(state, 0, batch(count=10))
    assert refusal(state, batch(sequence=11)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequence_starts_over_after_its_maximum() -> None:
    state = new_state()
    append(state, 0, batch(sequence=SEQUENCE_MAX - 1, count=2))
    append(state, 2, batch(sequence=0))
    state = new_state()
    append(state, 0, batch(sequence=SEQUENCE_MAX - 1, count=4))
    assert state.entries[1].last_sequence == 1
    known = state.check_client_batch(batch(sequence=SEQUENCE_MAX - 1, count=4))
    assert known is not None
    append(state, 4, batch(sequence=2))


def test_unknown_producer_may_begin_anywhere() -> None:
    append(new_state(), 0, batch(sequence=77, epoch=5))


def test_new_epoch_begins_at_sequence_zero_and_fences_the_old_one() -> None:
    state = new_state()
    append(state, 0, batch(epoch=1))
    assert refusal(state, batch(epoch=2, sequence=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    append(state, 1, batch(epoch=2))
    assert refusal(state, batch(epoch=1, sequence=1)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert refusal(state, batch(epoch=1, sequence=0)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_checking_changes_nothing() -> None:
    state = new_state()
    append(state, 0, batch())
    for _ in range(2):
        assert state.check_client_batch(batch(sequence=1)) is None


def test_coordinator_is_held_to_its_epoch_only() -> None:
    state = new_state()
    state.update(batch(sequence=-1, epoch=1, transactional=True), base_offset=0)
    state.check_coordinator_batch(batch(sequence=-1, epoch=1, transactional=True))
    with pytest.raises(KafkaError, match="INVALID_PRODUCER_EPOCH"):
        state.check_coordinator_batch(batch(sequence=-1, epoch=0, transactional=True))


def test_write_outside_of_the_open_transaction_is_refused() -> None:
    state = new_state()
    append(state, 0, batch(transactional=True))
    assert refusal(state, batch(sequence=1)) is ErrorCode.INVALID_TXN_STATE


def test_replicated_batches_are_noted_without_checks() -> None:
    state = new_state()
    state.update(batch(epoch=3, sequence=50), base_offset=0)
    state.update(batch(epoch=2, sequence=9), base_offset=1)
    entry = state.entries[1]
    assert (entry.producer_epoch, entry.last_sequence, len(entry.batches)) == (2, 9, 1)


def test_transaction_is_unstable_until_its_marker_is_replicated() -> None:
    state = new_state()
    assert unstable_and_undecided(state) == (None, None)
    append(state, 5, batch(transactional=True))
    append(state, 6, batch(sequence=1, transactional=True))
    assert unstable_and_undecided(state) == (5, 5)
    end(state, 7, marker())
    assert unstable_and_undecided(state) == (5, None)
    state.on_high_watermark_updated(7)
    assert unstable_and_undecided(state) == (5, None)
    state.on_high_watermark_updated(8)
    assert unstable_and_undecided(state) == (None, None)


def test_first_unstable_offset_is_the_least_of_undecided_and_unreplicated() -> None:
    state = new_state()
    append(state, 0, batch(producer_id=1, transactional=True))
    append(state, 1, batch(producer_id=2, transactional=True))
    append(state, 2, batch(producer_id=3, transactional=True))
    end(state, 3, marker(producer_id=2))
    assert state.first_unstable_offset == 0
    end(state, 4, marker(producer_id=1))
    state.on_high_watermark_updated(4)
    assert state.first_unstable_offset == 0
    state.on_high_watermark_updated(5)
    assert unstable_and_undecided(state) == (2, 2)


def test_marker_ends_the_transaction_and_updates_the_index() -> None:
    state = new_state()
    append(state, 0, batch(producer_id=1, transactional=True))
    append(state, 1, batch(producer_id=2, transactional=True))
    assert end(state, 2, marker(producer_id=1), is_abort=True) == CompletedTransaction(
        producer_id=1, first_offset=0, last_offset=2, last_stable_offset=1, is_aborted=True
    )
    assert end(state, 3, marker(producer_id=2)) == CompletedTransaction(
        producer_id=2, first_offset=1, last_offset=3, last_stable_offset=4, is_aborted=False
    )
    assert not state.has_ongoing_transaction(producer_id=1, producer_epoch=0)


def test_transaction_stays_undecided_until_it_is_completed() -> None:
    state = new_state()
    append(state, 0, batch(transactional=True))
    completed = state.update_marker(marker(), base_offset=1, coordinator_epoch=0, is_abort=True)
    assert completed is not None
    state.on_high_watermark_updated(2)
    assert state.first_unstable_offset == 0


def test_marker_without_records_ends_nothing_but_is_remembered() -> None:
    state = new_state()
    assert end(state, 0, marker(epoch=4), coordinator_epoch=7) is None
    entry = state.entries[1]
    assert (entry.producer_epoch, entry.coordinator_epoch, entry.last_sequence) == (4, 7, -1)
    assert refusal(state, batch(epoch=3)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_marker_of_the_same_epoch_keeps_the_sequence_going() -> None:
    state = new_state()
    append(state, 0, batch(transactional=True))
    end(state, 1, marker())
    append(state, 2, batch(sequence=1, transactional=True))


def test_marker_of_a_raised_epoch_starts_the_sequence_over() -> None:
    state = new_state()
    append(state, 0, batch(transactional=True))
    end(state, 1, marker(epoch=1))
    expected = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refusal(state, batch(epoch=1, sequence=1, transactional=True)) is expected
    append(state, 2, batch(epoch=1, transactional=True))


def test_ongoing_transaction_is_that_of_the_epoch() -> None:
    state = new_state()
    append(state, 0, batch(epoch=3, transactional=True))
    assert state.has_ongoing_transaction(producer_id=1, producer_epoch=3)
    assert not state.has_ongoing_transaction(producer_id=1, producer_epoch=4)
    assert not state.has_ongoing_transaction(producer_id=2, producer_epoch=3)


def test_marker_from_an_old_coordinator_is_fenced() -> None:
    state = new_state()
    append(state, 0, batch(transactional=True))
    end(state, 1, marker(), coordinator_epoch=5)
    fenced = ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert marker_refusal(state, marker(), coordinator_epoch=4) is fenced
    assert marker_refusal(state, marker(), coordinator_epoch=5) is ErrorCode.NONE
    unknown = marker(producer_id=2)
    assert marker_refusal(state, unknown, coordinator_epoch=0) is ErrorCode.NONE


@pytest.mark.parametrize(
    ("transaction_version", "epoch", "is_open", "code"),
    [
        (0, 1, True, ErrorCode.INVALID_PRODUCER_EPOCH),
        (0, 2, True, ErrorCode.NONE),
        (1, 3, True, ErrorCode.NONE),
        (2, 1, True, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, 1, False, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, 2, True, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, 2, False, ErrorCode.NONE),
        (2, 3, True, ErrorCode.NONE),
    ],
)
def test_marker_epoch_has_to_be_raised_under_transaction_version_two(
    transaction_version: int, epoch: int, is_open: bool, code: ErrorCode
) -> None:
    state = new_state()
    append(state, 0, batch(epoch=2, transactional=is_open))
    found = marker_refusal(state, marker(epoch=epoch), transaction_version=transaction_version)
    assert found is code


def test_epoch_that_cannot_be_raised_ends_its_own_transaction() -> None:
    state = new_state()
    append(state, 0, batch(epoch=32767, transactional=True))
    assert marker_refusal(state, marker(epoch=32767), transaction_version=2) is ErrorCode.NONE


def test_idle_producer_is_forgotten_but_never_its_open_transaction() -> None:
    state = new_state()
    append(state, 0, batch(producer_id=1, timestamp=0))
    append(state, 1, batch(producer_id=2, timestamp=1))
    append(state, 2, batch(producer_id=3, timestamp=0, transactional=True))
    state.remove_expired(HOUR_MS)
    assert list(state.entries) == [2, 3]
    append(state, 3, batch(producer_id=1, sequence=50))


def test_loaded_state_continues_its_transactions_in_the_order_of_the_log() -> None:
    state = new_state()
    append(state, 9, batch(producer_id=9, transactional=True))
    state.load(
        [
            ProducerEntry(1, producer_epoch=0, last_timestamp=0, current_txn_first_offset=7),
            ProducerEntry(2, producer_epoch=0, last_timestamp=0, current_txn_first_offset=3),
            ProducerEntry(3, producer_epoch=0, last_timestamp=0),
            ProducerEntry(4, producer_epoch=0, last_timestamp=5),
        ],
        now_ms=HOUR_MS,
    )
    assert list(state.entries) == [1, 2, 4]
    assert state.first_undecided_offset == 3
    end(state, 10, marker(producer_id=2))
    state.on_high_watermark_updated(11)
    assert state.first_unstable_offset == 7


def test_cleared_state_has_no_producers() -> None:
    state = new_state()
    append(state, 0, batch(transactional=True))
    state.clear()
    assert not state.entries
    assert state.first_unstable_offset is None
