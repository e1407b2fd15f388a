"""A consumer's fast decoding against the plain one, of any records, and of bytes that are none."""

from __future__ import annotations

import itertools
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.client.consuming.decoding.fetched_batches import FetchedBatches
from ottla.client.consuming.decoding.record_loop import decode_records
from ottla.client.consuming.record_queue import ReadPosition, RecordQueue
from ottla.model import Offset, TopicPartition
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.fetch import AbortedTransaction
from ottla.wire.records.batch import read_body
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import HEADER_BYTES, TimestampType, read_header
from ottla.wire.records.record import Record, iterate_records
from tests.support.storage.records import record_lists

PARTITION = TopicPartition("t", 3)
edits = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=5)


@settings(max_examples=150, deadline=None)
@given(record_lists(), st.sampled_from(Codec), st.sampled_from(TimestampType))
def test_records_are_those_of_the_plain_decoder(
    records: list[Record], codec: Codec, kind: TimestampType
) -> None:
    batch = build_batch(records, codec=codec, timestamp_type=kind)
    header = read_header(batch)

    decoded = decode_records(read_body(batch, 0, header), header, topic="t", partition=3)

    plain = list(iterate_records(batch))
    assert [
        (each.offset, each.timestamp, each.key, each.value, each.headers) for each in decoded
    ] == [(each.offset, each.timestamp, each.key, each.value, each.headers) for each in plain]
    assert {(each.topic, each.partition, each.timestamp_type) for each in decoded} == {
        ("t", 3, kind)
    }


@settings(max_examples=300, deadline=None)
@given(record_lists(), edits)
def test_a_damaged_body_is_refused_or_read_as_the_plain_decoder_does(
    records: list[Record], changes: list[tuple[int, int]]
) -> None:
    batch = bytearray(build_batch(records))
    for position, value in changes:
        batch[HEADER_BYTES + position % (len(batch) - HEADER_BYTES)] = value
    header = read_header(batch)
    body = read_body(batch, 0, header)
    plain: list[Record] | None = None
    with suppress(ProtocolError):
        plain = list(iterate_records(batch))
    try:
        decoded = decode_records(body, header, topic="t", partition=3)
    except ProtocolError:
        assert plain is None
    else:
        assert plain is not None
        assert [each.value for each in decoded] == [each.value for each in plain]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(record_lists(count_max=4), min_size=1, max_size=6),
    st.lists(st.integers(1, 5), min_size=1, max_size=40),
    st.data(),
)
def test_a_queue_hands_out_each_record_once_and_in_order(
    batches: list[list[Record]], counts: list[int], data: st.DataObject
) -> None:
    """Whatever is taken at once, and whatever is taken back."""
    log, expected = _log(batches)
    queue = RecordQueue(PARTITION, ReadPosition(0))
    for chunk in log:
        queue.append(_fetched(chunk), len(chunk))
    seen: list[int] = []
    for count in itertools.islice(itertools.cycle(counts), 400):
        if data.draw(st.booleans(), label="chunk"):
            part = queue.take_chunk(count)
            back = data.draw(st.integers(0, len(part)), label="back")
            queue.take_back(back)
            part = part[: len(part) - back]
        else:
            part = queue.take(count)
        seen += [each.offset for each in part]
        if seen:
            assert queue.position.offset > seen[-1]
        if not queue:
            break
    seen += [each.offset for each in queue.take(10_000)]
    assert seen == expected
    assert queue.byte_count == 0


@settings(max_examples=100, deadline=None)
@given(st.lists(record_lists(count_max=4), min_size=1, max_size=5), st.data())
def test_columns_and_records_continue_at_the_same_position(
    batches: list[list[Record]], data: st.DataObject
) -> None:
    log, expected = _log(batches)
    queue = RecordQueue(PARTITION, ReadPosition(0))
    for chunk in log:
        queue.append(_fetched(chunk), len(chunk))
    seen: list[int] = []
    while queue:
        count = data.draw(st.integers(1, 5))
        if data.draw(st.booleans(), label="columns"):
            rows = queue.take_columns(data.draw(st.sampled_from([None, count])))
            seen += [] if rows is None else rows["offset"].to_pylist()
        else:
            seen += [each.offset for each in queue.take(count)]
    assert seen == expected


def _log(batches: list[list[Record]]) -> tuple[list[bytes], list[int]]:
    """The batches one after the other, and the offsets of their records."""
    log, offsets, base = [], [], 0
    for records in batches:
        moved = [each._replace(offset=Offset(base + index)) for index, each in enumerate(records)]
        log.append(bytes(build_batch(moved)))
        offsets += [int(each.offset) for each in moved]
        # Compaction leaves gaps.
        base = offsets[-1] + 3
    return log, offsets


def _fetched(data: bytes) -> FetchedBatches:
    aborted: list[AbortedTransaction] = []
    return FetchedBatches(data, aborted, position=0, is_read_committed=True, checks_crcs=True)
