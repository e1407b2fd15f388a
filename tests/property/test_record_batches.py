"""Record batches for any records, and for any bytes that are not quite a batch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.model import Offset, TimestampMs
from ottla.storage.log.offset_lookup import BatchSearch
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches, read_body, validate_batch
from ottla.wire.records.builder import build_batch, seal_batch
from ottla.wire.records.columns import BinaryColumn, decode_columns
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import HEADER_BYTES, read_header
from ottla.wire.records.record import Record, iterate_records, walk_records
from ottla.wire.records.record_check import RecordLimits, check_body
from tests.support.storage.batches import batch_around, compressed_around
from tests.support.storage.records import record_lists

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


def naive_check(body: bytes, count: int) -> list[tuple[int, bool]] | None:
    """Timestamps, and whether there is a key, of records that are as a producer writes them."""
    batch = batch_around(body, count=count, timestamp=0)
    try:
        found = list(iterate_records(batch))
    except ProtocolError:
        return None
    if [record.offset for record in found] != list(range(count)):
        return None
    return [(record.timestamp, record.key is not None) for record in found]


@settings(max_examples=300, deadline=None)
@given(record_lists(), edits | st.just([]), st.integers(-1, 1), st.booleans())
def test_the_check_by_record_agrees_with_reading_everything(
    records: list[Record], changes: list[tuple[int, int]], more: int, needs_keys: bool
) -> None:
    numbered = [
        record._replace(offset=Offset(number), timestamp=TimestampMs(record.timestamp % 10_000))
        for number, record in enumerate(records)
    ]
    built = build_batch(numbered)
    base_timestamp = read_header(built).base_timestamp
    body = bytearray(built[HEADER_BYTES:])
    for position, value in changes:
        # Where the numbers of the first records are, as often as anywhere else.
        body[position % min(len(body), 40 if position % 2 else len(body))] = value
    count = len(records) + more
    expected = naive_check(bytes(body), count)

    limits = RecordLimits(needs_keys=needs_keys, timestamps=(0, 5_000 - base_timestamp))
    header = read_header(batch_around(bytes(body), count=count, timestamp=0))
    try:
        found = check_body(bytes(body), header, limits)
    except ProtocolError:
        assert expected is None
        return
    assert expected is not None
    keyless = {index for index, (_, has_key) in enumerate(expected) if needs_keys and not has_key}
    untimely = {
        index
        for index, (timestamp, _) in enumerate(expected)
        if not 0 <= timestamp <= 5_000 - base_timestamp and timestamp != -1
    } - keyless
    assert set(found.keyless) == keyless
    assert {index for index, _ in found.untimely} == untimely
    assert found.excluded_count == len(keyless) + len(untimely)
    assert found.max_timestamp == max([-1, *[timestamp for timestamp, _ in expected]])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(Codec), st.integers(1, 40), st.booleans())
def test_no_reader_fails_in_another_way_on_a_body_of_any_bytes(
    body: bytes, codec: Codec, count: int, is_compressed: bool
) -> None:
    make = compressed_around if is_compressed else batch_around
    batch = bytes(make(body, codec=codec, count=count))
    header = validate_batch(batch)

    def walk() -> None:
        for _ in walk_records(read_body(batch, 0, header), header.record_count):
            pass

    def check() -> None:
        check_body(read_body(batch, 0, header), header, RecordLimits(needs_keys=True))

    readers: list[Callable[[], object]] = [
        walk,
        check,
        lambda: list(iterate_records(batch)),
        lambda: decode_columns([batch]),
        BatchSearch(batch, 0, 0).run,
    ]
    for read in readers:
        with suppress(ProtocolError):
            read()
