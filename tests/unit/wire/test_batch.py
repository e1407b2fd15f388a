"""Batch headers, checks and patches, on batches that Apache Kafka wrote."""

from __future__ import annotations

import struct

import pytest

from ottla.model import NO_SEQUENCE, LeaderEpoch, Offset, TimestampMs
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import (
    assign_offset_and_epoch,
    crc_matches,
    iterate_batches,
    read_body,
    stamp_log_append_time,
    validate_batch,
)
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import (
    HEADER_BYTES,
    TimestampType,
    encode_attributes,
    increment_sequence,
    read_header,
)
from ottla.wire.records.record import iterate_records
from tests.support.kafka.java_batches import JAVA_BATCHES
from tests.support.storage.batches import batch_of
from tests.support.storage.records import JAVA_RECORDS

PLAIN = JAVA_BATCHES["none"]


def patched(batch: bytes | bytearray, format_: str, position: int, value: int) -> bytearray:
    copy = bytearray(batch)
    struct.pack_into(format_, copy, position, value)
    return copy


def test_header_of_a_java_batch_reads_as_it_was_written() -> None:
    header = read_header(PLAIN)
    assert header.base_offset == 100
    assert header.last_offset == 105
    assert header.next_offset == 106
    assert header.leader_epoch == 7
    assert header.size_in_bytes == len(PLAIN)
    assert header.record_count == 4
    assert header.base_timestamp == 1700000000000
    assert header.max_timestamp == 1700000500000
    assert header.timestamp_type is TimestampType.CREATE_TIME
    assert not header.has_producer_id
    assert header.last_sequence == NO_SEQUENCE
    assert (header.is_transactional, header.is_control, header.has_delete_horizon) == (False,) * 3
    assert header.delete_horizon_ms is None


@pytest.mark.parametrize("codec", list(Codec))
def test_codec_comes_from_the_attributes(codec: Codec) -> None:
    assert read_header(JAVA_BATCHES[codec.name.lower()]).codec is codec


def test_transactional_header_has_its_producer_and_its_sequence_wraps() -> None:
    header = read_header(JAVA_BATCHES["transactional"])
    assert header.is_transactional
    assert header.has_producer_id
    assert (header.producer_id, header.producer_epoch) == (4242, 3)
    assert header.base_sequence == 2**31 - 3
    assert header.last_sequence == 2


@pytest.mark.parametrize(
    ("sequence", "by", "expected"),
    [(0, 0, 0), (5, 3, 8), (2**31 - 1, 0, 2**31 - 1), (2**31 - 1, 1, 0), (2**31 - 1, 5, 4)],
)
def test_sequence_starts_over_at_zero(sequence: int, by: int, expected: int) -> None:
    assert increment_sequence(sequence, by=by) == expected


def test_other_flags_are_read_from_java_batches() -> None:
    assert read_header(JAVA_BATCHES["delete_horizon"]).delete_horizon_ms == 1700000700000
    appended = read_header(JAVA_BATCHES["log_append_time"])
    assert appended.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert appended.max_timestamp == 1700000009999
    marker = read_header(JAVA_BATCHES["commit_marker"])
    assert marker.is_control
    assert marker.is_transactional


def test_attributes_are_encoded_as_they_are_read() -> None:
    attributes = encode_attributes(
        codec=Codec.ZSTD,
        timestamp_type=TimestampType.LOG_APPEND_TIME,
        is_transactional=True,
        is_control=True,
        has_delete_horizon=True,
    )
    assert attributes == 0x7C
    assert encode_attributes() == 0


@pytest.mark.parametrize("name", sorted(JAVA_BATCHES))
def test_every_java_batch_is_valid_with_gaps(name: str) -> None:
    batch = b"before" + JAVA_BATCHES[name] + b"after"
    assert validate_batch(batch, 6, allow_gaps=True).size_in_bytes == len(JAVA_BATCHES[name])


def test_batch_without_gaps_is_valid_as_produced() -> None:
    assert validate_batch(batch_of(b"a", b"b")).record_count == 2


def test_gaps_are_refused_where_they_are_not_expected() -> None:
    with pytest.raises(ProtocolError, match="record count 4, but covers offsets: 6"):
        validate_batch(PLAIN)


@pytest.mark.parametrize(("count", "delta"), [(-1, 5), (7, 5), (0, -1), (1, -2)])
def test_count_that_contradicts_the_offsets_is_refused(count: int, delta: int) -> None:
    batch = patched(patched(PLAIN, ">i", 57, count), ">i", 23, delta)
    with pytest.raises(ProtocolError, match="but covers offsets"):
        validate_batch(batch, allow_gaps=True)


def test_flipped_bit_anywhere_under_the_checksum_is_noticed() -> None:
    header = read_header(PLAIN)
    for position in range(21, len(PLAIN)):
        batch = bytearray(PLAIN)
        batch[position] ^= 0x10
        assert not crc_matches(batch, 0, header)
    with pytest.raises(ProtocolError, match="is corrupt"):
        validate_batch(batch, allow_gaps=True)


@pytest.mark.parametrize("magic", [0, 1])
def test_old_message_formats_are_named(magic: int) -> None:
    with pytest.raises(ProtocolError, match=rf"message format {magic}, which Kafka 4 dropped"):
        read_header(patched(PLAIN, "b", 16, magic))
    # A message in the old formats can be shorter than a header in the new one.
    with pytest.raises(ProtocolError, match=rf"message format {magic}, which Kafka 4 dropped"):
        read_header(patched(PLAIN[:34], "b", 16, magic))


def test_unknown_magic_is_refused() -> None:
    with pytest.raises(ProtocolError, match="magic 3"):
        read_header(patched(PLAIN, "b", 16, 3))


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codec_is_refused(codec: int) -> None:
    with pytest.raises(ProtocolError, match=rf"codec {codec}; the last one known is 4"):
        read_header(patched(PLAIN, ">h", 21, codec))


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 48])
def test_length_below_a_headers_is_refused(length: int) -> None:
    with pytest.raises(ProtocolError, match="its header alone takes 49"):
        read_header(patched(PLAIN, ">i", 8, length))


@pytest.mark.parametrize("length", [0, 1, 16, HEADER_BYTES - 1])
def test_cut_off_header_is_refused(length: int) -> None:
    with pytest.raises(ProtocolError, match=f"{length} are left"):
        read_header(PLAIN[:length])


def test_cut_off_batch_is_refused() -> None:
    with pytest.raises(ProtocolError, match=f"{len(PLAIN) - 1} are there"):
        validate_batch(PLAIN[:-1], allow_gaps=True)
    with pytest.raises(ProtocolError, match="cut off"):
        read_body(PLAIN[:-1], 0, read_header(PLAIN))


@pytest.mark.parametrize("count", [-1, 2**31 - 1, 60])
def test_more_records_than_the_body_has_room_for_are_refused(count: int) -> None:
    batch = patched(PLAIN, ">i", 57, count)
    with pytest.raises(ProtocolError, match=f"has the record count {count}"):
        read_body(batch, 0, read_header(batch))


def test_offsets_past_the_last_one_are_refused() -> None:
    batch = patched(PLAIN, ">q", 0, 2**63 - 2)
    with pytest.raises(ProtocolError, match="past the last offset"):
        read_body(batch, 0, read_header(batch))


def test_batches_are_found_one_after_the_other() -> None:
    batches = list(JAVA_BATCHES.values())
    found = list(iterate_batches(b"".join(batches)))
    positions = [sum(len(batch) for batch in batches[:index]) for index in range(len(batches))]
    assert [position for position, _ in found] == positions
    assert [header.size_in_bytes for _, header in found] == [len(batch) for batch in batches]


@pytest.mark.parametrize("tail", [1, 12, HEADER_BYTES, len(PLAIN) - 1])
def test_partial_batch_at_the_end_ends_the_iteration_or_is_refused(tail: int) -> None:
    buffer = PLAIN + PLAIN[:tail]
    assert [position for position, _ in iterate_batches(buffer)] == [0]
    with pytest.raises(ProtocolError, match=f"the {tail} bytes from byte {len(PLAIN)}"):
        list(iterate_batches(buffer, strict=True))


def test_nothing_is_no_batch_and_no_error() -> None:
    assert list(iterate_batches(b"", strict=True)) == []


def test_offset_and_epoch_are_assigned_without_touching_the_checksum() -> None:
    buffer = bytearray(b"before" + PLAIN)
    view = memoryview(buffer)
    assign_offset_and_epoch(view, 6, base_offset=Offset(2**40), leader_epoch=LeaderEpoch(9))
    header = validate_batch(view, 6, allow_gaps=True)
    assert (header.base_offset, header.leader_epoch) == (2**40, 9)
    assert header._replace(base_offset=Offset(100), leader_epoch=LeaderEpoch(7)) == read_header(
        PLAIN
    )


def test_log_append_time_becomes_every_records_time() -> None:
    buffer = bytearray(b"before" + PLAIN + b"after")
    stamp_log_append_time(buffer, 6, TimestampMs(1700000009999))
    header = validate_batch(buffer, 6, allow_gaps=True)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert header.max_timestamp == 1700000009999
    assert [record.timestamp for record in iterate_records(buffer, 6)] == [1700000009999] * 4
    assert [record.value for record in iterate_records(buffer, 6)] == [
        record.value for record in JAVA_RECORDS
    ]
    assert buffer[-5:] == b"after"
