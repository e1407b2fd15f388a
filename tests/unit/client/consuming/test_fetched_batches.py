"""Which batches of a response a consumer sees."""

from __future__ import annotations

import pytest

from ottla.client.consuming.decoding.fetched_batches import FetchedBatches
from ottla.model import LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.fetch import AbortedTransaction
from ottla.wire.records import (
    ControlRecordType,
    EndTransactionMarker,
    Record,
    assign_offset_and_epoch,
    build_batch,
    end_transaction_batch,
)

PRODUCER, OTHER = ProducerId(7), ProducerId(8)


def data(first: int, count: int = 2, *, producer: ProducerId | None = None) -> bytearray:
    records = [Record(Offset(first + index), TimestampMs(1), None, b"v") for index in range(count)]
    if producer is None:
        return build_batch(records)
    return build_batch(
        records,
        producer_id=producer,
        producer_epoch=ProducerEpoch(0),
        base_sequence=0,
        is_transactional=True,
    )


def marker(offset: int, kind: ControlRecordType, producer: ProducerId) -> bytearray:
    batch = end_transaction_batch(
        EndTransactionMarker(kind, 0),
        producer_id=producer,
        producer_epoch=ProducerEpoch(0),
        timestamp=TimestampMs(1),
    )
    assign_offset_and_epoch(batch, 0, base_offset=Offset(offset), leader_epoch=LeaderEpoch(5))
    return batch


def fetched(
    *batches: bytearray,
    aborted: tuple[tuple[ProducerId, int], ...] = (),
    position: int = 0,
    is_read_committed: bool = True,
) -> FetchedBatches:
    return FetchedBatches(
        b"".join(batches),
        [AbortedTransaction(producer_id=who, first_offset=at) for who, at in aborted],
        position=position,
        is_read_committed=is_read_committed,
        checks_crcs=True,
    )


def seen(batches: FetchedBatches) -> list[int]:
    found = []
    while (batch := batches.next()) is not None:
        found.append(int(batch.header.base_offset))
    return found


def test_aborted_transactions_are_skipped_and_later_ones_of_the_producer_are_not() -> None:
    batches = fetched(
        data(0, producer=PRODUCER),
        data(2, producer=OTHER),
        marker(4, ControlRecordType.ABORT, PRODUCER),
        data(5, producer=PRODUCER),
        marker(7, ControlRecordType.COMMIT, PRODUCER),
        marker(8, ControlRecordType.COMMIT, OTHER),
        aborted=((PRODUCER, 0),),
    )
    assert seen(batches) == [2, 5]
    assert batches.next_offset == 9
    assert batches.leader_epoch == 5


def test_all_data_is_seen_without_read_committed_and_no_markers() -> None:
    batches = fetched(
        data(0, producer=PRODUCER),
        marker(2, ControlRecordType.ABORT, PRODUCER),
        data(3),
        aborted=((PRODUCER, 0),),
        is_read_committed=False,
    )
    assert seen(batches) == [0, 3]


def test_a_position_inside_an_aborted_transaction_skips_the_rest_of_it() -> None:
    batches = fetched(
        data(0, producer=PRODUCER),
        data(2, producer=PRODUCER),
        marker(4, ControlRecordType.ABORT, PRODUCER),
        data(5, producer=PRODUCER),
        aborted=((PRODUCER, 0),),
        position=2,
    )
    assert seen(batches) == [5]


def test_two_aborted_transactions_of_one_producer_are_both_skipped() -> None:
    batches = fetched(
        data(0, producer=PRODUCER),
        marker(2, ControlRecordType.ABORT, PRODUCER),
        data(3, producer=PRODUCER),
        marker(5, ControlRecordType.ABORT, PRODUCER),
        data(6),
        aborted=((PRODUCER, 0), (PRODUCER, 3)),
    )
    assert seen(batches) == [6]


def test_a_corrupt_batch_is_reported_again_until_the_application_seeks() -> None:
    second = data(2)
    second[-1] ^= 1
    batches = fetched(data(0), second, data(4))
    assert batches.next() is not None
    for _ in range(2):
        with pytest.raises(ProtocolError, match="the batch at offset 2"):
            batches.next()
    assert batches.next_offset == 2


def test_an_incomplete_batch_at_the_end_is_left_for_the_next_fetch() -> None:
    batches = fetched(data(0), data(2)[:40])
    assert seen(batches) == [0]
    assert batches.next_offset == 2


def test_the_memory_of_a_response_is_released_once_when_its_last_batch_was_taken() -> None:
    released = []
    batches = FetchedBatches(
        data(0),
        (),
        position=0,
        is_read_committed=False,
        checks_crcs=True,
        on_end=lambda: released.append(1),
    )
    batches.next()
    assert not released
    assert batches.next() is None
    batches.close()
    assert released == [1]
