"""Record batches for any records, and for any bytes that are not quite a batch."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches, read_body, validate_batch
from ottla.wire.records.builder import build_batch, seal_batch
from ottla.wire.records.columns import BinaryColumn, decode_columns
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import HEADER_BYTES, read_header
from ottla.wire.records.record import Record, iterate_records, walk_records
from tests.records import record_lists

edits = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=5)


@settings(max_examples=150, deadline=None)
@given(record_lists(), st.sampled_from(Codec))
def test_records_round_trip_through_a_batch(records: list[Record], codec: Codec) -> None:
    batch = build_batch(records, codec=codec)
    header = validate_batch(batch, allow_gaps=True)
    assert header.record_count == len(records)
    assert header.last_offset == records[-1].offset
    assert header.max_timestamp == max(record.timestamp for record in records)
    assert list(iterate_records(batch)) == records


@settings(max_examples=100, deadline=None)
@given(st.lists(record_lists(count_max=3), max_size=4), st.data())
def test_any_cut_of_a_log_yields_the_batches_before_it(
    batches: list[list[Record]], data: st.DataObject
) -> None:
    built = [bytes(build_batch(records)) for records in batches]
    log = b"".join(built)
    cut = data.draw(st.integers(0, len(log)))
    found = [
        log[position : position + h.size_in_bytes] for position, h in iterate_batches(log[:cut])
    ]
    assert found == built[: len(found)]
    assert len(b"".join(found)) <= cut
    assert len(found) == len(built) or len(b"".join(built[: len(found) + 1])) > cut


@settings(max_examples=150, deadline=None)
@given(record_lists(), st.sampled_from(Codec))
def test_walk_agrees_with_iteration(records: list[Record], codec: Codec) -> None:
    batch = build_batch(records, codec=codec)
    header = read_header(batch)
    body = read_body(batch, 0, header)
    walked = [
        (header.base_timestamp + timestamp, header.base_offset + offset, key, is_null)
        for _, _, timestamp, offset, key, is_null, _ in walk_records(body, header.record_count)
    ]
    assert walked == [(r.timestamp, r.offset, r.key, r.value is None) for r in records]


def outcome_of_iteration(batch: bytes) -> list[tuple[object, ...]] | None:
    try:
        return [tuple(record[:5]) for record in iterate_records(batch)]
    except ProtocolError:
        return None


def outcome_of_columns(batch: bytes) -> list[tuple[object, ...]] | None:
    """The records again, taken apart by hand so that no other decoder is trusted with bad bytes."""
    try:
        columns = decode_columns([batch])
    except ProtocolError:
        return None

    def nullable(column: BinaryColumn, index: int) -> bytes | None:
        validity, offsets = column.validity, column.offsets
        if validity is not None and not validity[index >> 3] >> (index & 7) & 1:
            return None
        return bytes(column.data[offsets[index] : offsets[index + 1]])

    headers = columns.headers
    return [
        (
            int(columns.offsets[index]),
            int(columns.timestamps[index]),
            nullable(columns.keys, index),
            nullable(columns.values, index),
            tuple(
                ((nullable(headers.keys, entry) or b"").decode(), nullable(headers.values, entry))
                for entry in range(headers.offsets[index], headers.offsets[index + 1])
            ),
        )
        for index in range(len(columns))
    ]


@settings(max_examples=400, deadline=None)
@given(record_lists(count_max=5), edits, st.integers(-2, 2))
def test_spoiled_bodies_mean_the_same_to_every_reader(
    records: list[Record], edits: list[tuple[int, int]], count_change: int
) -> None:
    """What one refuses the other refuses, and what both read is the same."""
    batch = build_batch(records)
    header = read_header(batch)
    body = bytearray(batch[HEADER_BYTES:])
    for position, byte in edits:
        body[position % len(body)] = byte
    spoiled = bytes(
        seal_batch(header._replace(record_count=header.record_count + count_change), body)
    )
    assert outcome_of_columns(spoiled) == outcome_of_iteration(spoiled)


@settings(max_examples=300, deadline=None)
@given(record_lists(count_max=3), st.sampled_from(Codec), edits, st.integers(0, 40))
def test_spoiled_batches_are_refused_with_a_protocol_error_and_nothing_else(
    records: list[Record], codec: Codec, edits: list[tuple[int, int]], cut: int
) -> None:
    batch = bytearray(build_batch(records, codec=codec))
    for position, byte in edits:
        batch[position % len(batch)] = byte
    spoiled = bytes(batch[: len(batch) - cut])
    outcome_of_iteration(spoiled)
    outcome_of_columns(spoiled)
    try:
        list(iterate_batches(spoiled, strict=True))
        validate_batch(spoiled)
    except ProtocolError:
        return
    assert read_header(spoiled).size_in_bytes == len(spoiled)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_refused_with_a_protocol_error_and_nothing_else(noise: bytes) -> None:
    outcome_of_iteration(noise)
    outcome_of_columns(noise)
    for count in (1, 5):
        try:
            list(walk_records(noise, count))
        except ProtocolError:
            continue
