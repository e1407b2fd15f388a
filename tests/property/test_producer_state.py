"""The producer state against rules applied to the whole history, append by append."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from ottla.storage.producers.producer_snapshot import decode_snapshot, encode_snapshot
from ottla.storage.producers.producer_state import ProducerState
from ottla.wire.records.header import MAGIC, BatchHeader, encode_attributes

SEQUENCES = 2**31


class Append(NamedTuple):
    """A client's batch, described against what its producer wrote before."""

    producer_id: int
    epoch_step: int
    # None follows on; otherwise how many batches back the one lies that is sent again.
    back: int | None
    sequence_shift: int
    record_count: int
    is_transactional: bool


class Mark(NamedTuple):
    producer_id: int
    epoch_step: int
    is_abort: bool
    coordinator_epoch: int
    transaction_version: int


class Replicate(NamedTuple):
    """The high watermark comes to within so many offsets of the log's end."""

    lag: int


class Reload(NamedTuple):
    """The state is written as a snapshot and read again."""


PRODUCERS = st.integers(1, 3)
OPERATIONS = st.lists(
    st.builds(
        Append,
        PRODUCERS,
        st.sampled_from([0, 0, 0, 0, 1, -1]),
        st.sampled_from([None, None, None, 0, 1, 4, 5]),
        # A producer that is not known may begin anywhere, also just before the numbers run out.
        st.sampled_from([0, 0, 0, 0, 0, 1, SEQUENCES - 2]),
        st.sampled_from([1, 3, 2**28]),
        st.sampled_from([True, True, False]),
    )
    | st.builds(
        Mark,
        PRODUCERS,
        st.sampled_from([0, 0, 1, -1]),
        st.booleans(),
        st.integers(0, 2),
        st.integers(0, 2),
    )
    | st.builds(Replicate, st.integers(0, 20))
    | st.builds(Reload),
    max_size=60,
)


class Event(NamedTuple):
    """Something that the history holds of one producer."""

    header: BatchHeader
    offset: int
    coordinator_epoch: int | None = None

    @property
    def last_offset(self) -> int:
        return self.offset + self.header.last_offset_delta


class History:
    """Everything that was appended, and Kafka's rules as questions to all of it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.end_offset = 0
        self.high_watermark = 0
        self.reloaded_at = 0

    def of(self, producer_id: int) -> list[Event]:
        return [event for event in self.events if event.header.producer_id == producer_id]

    def epoch(self, producer_id: int) -> int:
        events = self.of(producer_id)
        return events[-1].header.producer_epoch if events else -1

    def batches(self, producer_id: int) -> list[Event]:
        """The data batches of the current epoch that are remembered, the last one first."""
        found = []
        for event in reversed(self.of(producer_id)):
            if event.header.producer_epoch != self.epoch(producer_id):
                break
            if not event.header.is_control:
                found.append(event)
                if event.offset < self.reloaded_at:
                    break
        return found[:5]

    def open_since(self, producer_id: int) -> int | None:
        since = None
        for event in self.of(producer_id):
            if event.header.is_control:
                since = None
            elif event.header.is_transactional and since is None:
                since = event.offset
        return since

    def coordinator_epoch(self, producer_id: int) -> int:
        epochs = [event.coordinator_epoch for event in self.of(producer_id)]
        return next((epoch for epoch in reversed(epochs) if epoch is not None), -1)

    def unstable(self) -> list[int]:
        """The first offsets of what is undecided or not known to be replicated."""
        found = []
        since: dict[int, int] = {}
        for event in self.events:
            producer_id = event.header.producer_id
            if event.header.is_control:
                first_offset = since.pop(producer_id, None)
                if first_offset is not None and event.offset >= self.high_watermark:
                    found.append(first_offset)
            elif event.header.is_transactional:
                since.setdefault(producer_id, event.offset)
        return [*found, *since.values()]

    def last_sequence(self, producer_id: int) -> int:
        batches = self.batches(producer_id)
        return batches[0].header.last_sequence if batches else -1

    def judge(self, header: BatchHeader) -> Event | ErrorCode:
        """What an append has to lead to: the event that it repeats, an error, or NONE."""
        producer_id, epoch = header.producer_id, self.epoch(header.producer_id)
        if epoch == -1:
            return ErrorCode.NONE
        if header.producer_epoch == epoch:
            for event in self.batches(producer_id):
                same = (event.header.base_sequence, event.header.last_sequence)
                if same == (header.base_sequence, header.last_sequence):
                    return event
        if header.producer_epoch < epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        last = self.last_sequence(producer_id) if header.producer_epoch == epoch else -1
        if header.base_sequence != (last + 1) % SEQUENCES:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        if self.open_since(producer_id) is not None and not header.is_transactional:
            return ErrorCode.INVALID_TXN_STATE
        return ErrorCode.NONE

    def judge_marker(self, header: BatchHeader, mark: Mark) -> ErrorCode:
        epoch = self.epoch(mark.producer_id)
        is_open = self.open_since(mark.producer_id) is not None
        if header.producer_epoch < epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if mark.transaction_version >= 2 and header.producer_epoch == epoch and is_open:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if mark.coordinator_epoch < self.coordinator_epoch(mark.producer_id):
            return ErrorCode.TRANSACTION_COORDINATOR_FENCED
        return ErrorCode.NONE

    def add(self, header: BatchHeader, coordinator_epoch: int | None = None) -> Event:
        event = Event(header, self.end_offset, coordinator_epoch)
        self.events.append(event)
        self.end_offset = event.last_offset + 1
        return event


def header_of(
    producer_id: int,
    *,
    epoch: int,
    sequence: int,
    count: int = 1,
    timestamp: int,
    is_transactional: bool = True,
    is_control: bool = False,
) -> BatchHeader:
    return BatchHeader(
        base_offset=Offset(0),
        batch_length=49,
        leader_epoch=LeaderEpoch(0),
        magic=MAGIC,
        crc=0,
        attributes=encode_attributes(is_transactional=is_transactional, is_control=is_control),
        last_offset_delta=count - 1,
        base_timestamp=TimestampMs(timestamp),
        max_timestamp=TimestampMs(timestamp),
        producer_id=ProducerId(producer_id),
        producer_epoch=ProducerEpoch(epoch),
        base_sequence=sequence,
        record_count=count,
    )


def header_for(history: History, operation: Append) -> BatchHeader:
    producer_id = operation.producer_id
    epoch = max(history.epoch(producer_id) + operation.epoch_step, 0)
    remembered = history.batches(producer_id)
    if operation.back is not None and operation.back < len(remembered):
        known = remembered[operation.back].header
        sequence, count = known.base_sequence, known.last_offset_delta + 1
    else:
        same = epoch == history.epoch(producer_id)
        last = history.last_sequence(producer_id) if same else -1
        sequence, count = (last + 1) % SEQUENCES, operation.record_count
    return header_of(
        producer_id,
        epoch=epoch,
        sequence=(sequence + operation.sequence_shift) % SEQUENCES,
        count=count,
        timestamp=history.end_offset,
        is_transactional=operation.is_transactional,
    )


def apply_append(state: ProducerState, history: History, operation: Append) -> None:
    header = header_for(history, operation)
    expected = history.judge(header)
    if isinstance(expected, Event):
        duplicate = state.check_client_batch(header)
        assert duplicate is not None
        assert duplicate.first_offset == expected.offset
        assert duplicate.last_offset == expected.last_offset
        # A snapshot has one timestamp for a producer, and that may be a later marker's.
        if expected.offset >= history.reloaded_at:
            assert duplicate.timestamp == expected.header.max_timestamp
    elif expected is not ErrorCode.NONE:
        with pytest.raises(KafkaError, match=expected.name):
            state.check_client_batch(header)
    else:
        assert state.check_client_batch(header) is None
        state.update(header, base_offset=history.add(header).offset)


def apply_mark(state: ProducerState, history: History, mark: Mark) -> None:
    header = header_of(
        mark.producer_id,
        epoch=max(history.epoch(mark.producer_id) + mark.epoch_step, 0),
        sequence=-1,
        timestamp=history.end_offset,
        is_control=True,
    )
    epochs = {
        "coordinator_epoch": mark.coordinator_epoch,
        "transaction_version": mark.transaction_version,
    }
    expected = history.judge_marker(header, mark)
    if expected is not ErrorCode.NONE:
        with pytest.raises(KafkaError, match=expected.name):
            state.check_marker(header, **epochs)
        return
    state.check_marker(header, **epochs)
    first_offset = history.open_since(mark.producer_id)
    event = history.add(header, mark.coordinator_epoch)
    completed = state.update_marker(
        header,
        base_offset=event.offset,
        coordinator_epoch=mark.coordinator_epoch,
        is_abort=mark.is_abort,
    )
    assert (completed is None) == (first_offset is None)
    if completed is not None:
        others = [history.open_since(producer_id) for producer_id in (1, 2, 3)]
        undecided = [offset for offset in others if offset is not None]
        assert completed.first_offset == first_offset
        assert completed.last_offset == event.offset
        assert completed.last_stable_offset == min(undecided, default=event.offset + 1)
        assert completed.is_aborted == mark.is_abort
        state.complete(completed)


@settings(deadline=None, max_examples=150)
@given(OPERATIONS)
def test_producer_state_follows_kafkas_rules(
    operations: list[Append | Mark | Replicate | Reload],
) -> None:
    history = History()
    state = ProducerState(TopicPartition("orders", 0), producer_id_expiration_ms=2**62)
    for operation in operations:
        match operation:
            case Append():
                apply_append(state, history, operation)
            case Mark():
                apply_mark(state, history, operation)
            case Replicate(lag):
                high_watermark = max(history.end_offset - lag, history.high_watermark)
                history.high_watermark = high_watermark
                state.on_high_watermark_updated(high_watermark)
            case Reload():
                # A log is only ever truncated to, and loaded up to, its high watermark.
                history.high_watermark = history.reloaded_at = history.end_offset
                snapshot = encode_snapshot(state.entries.values())
                state.load(decode_snapshot(snapshot), now_ms=0)
        assert state.first_unstable_offset == min(history.unstable(), default=None)
    opened = {producer_id: history.open_since(producer_id) for producer_id in state.entries}
    for producer_id, entry in state.entries.items():
        assert entry.current_txn_first_offset == opened[producer_id]
        assert entry.producer_epoch == history.epoch(producer_id)
    undecided = [offset for offset in opened.values() if offset is not None]
    assert state.first_undecided_offset == min(undecided, default=None)
