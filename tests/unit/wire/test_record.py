"""Records out of batches, whole and walked over."""

from __future__ import annotations

import pytest

from ottla.model import Offset, TimestampMs
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import read_body
from ottla.wire.records.builder import build_batch, encode_records, seal_batch
from ottla.wire.records.compression import Codec, compress
from ottla.wire.records.header import encode_attributes, read_header
from ottla.wire.records.record import Record, iterate_records, walk_records
from ottla.wire.varint import encode_varint, encode_varlong
from tests.support.kafka.java_batches import JAVA_BATCHES
from tests.support.storage.records import JAVA_RECORDS


def record_bytes(
    *,
    size: int | None = None,
    timestamp_delta: bytes = b"\x00",
    offset_delta: bytes = b"\x00",
    key: bytes = b"\x02k",
    value: bytes = b"\x02v",
    headers: bytes = b"\x00",
) -> bytes:
    """One record, part by part, so that a test can spoil any."""
    rest = b"\x00" + timestamp_delta + offset_delta + key + value + headers
    return encode_varint(len(rest) if size is None else size) + rest


def batch_around(body: bytes, *, count: int = 1, base_timestamp: int = 0) -> bytearray:
    header = read_header(build_batch([Record(Offset(0), TimestampMs(0), None, None)]))
    return seal_batch(
        header._replace(record_count=count, base_timestamp=TimestampMs(base_timestamp)), body
    )


@pytest.mark.parametrize("name", ["none", "gzip", "snappy", "lz4", "zstd", "transactional"])
def test_java_records_read_as_they_were_written(name: str) -> None:
    assert list(iterate_records(JAVA_BATCHES[name])) == JAVA_RECORDS


def test_delete_horizon_shifts_the_stored_times_and_not_the_real_ones() -> None:
    assert list(iterate_records(JAVA_BATCHES["delete_horizon"])) == JAVA_RECORDS


def test_log_append_time_is_every_records_time() -> None:
    records = [record._replace(timestamp=TimestampMs(1700000009999)) for record in JAVA_RECORDS]
    assert list(iterate_records(JAVA_BATCHES["log_append_time"])) == records


def test_empty_batch_has_no_records() -> None:
    assert list(iterate_records(JAVA_BATCHES["empty"])) == []


def test_records_are_read_from_the_middle_of_a_view() -> None:
    buffer = memoryview(bytearray(b"before" + JAVA_BATCHES["lz4"] + b"after"))
    assert list(iterate_records(buffer, 6)) == JAVA_RECORDS


def test_decompression_is_bounded() -> None:
    with pytest.raises(ProtocolError, match="more than the 100 bytes"):
        list(iterate_records(JAVA_BATCHES["zstd"], decompressed_bytes_max=100))


def test_attributes_of_a_record_are_kept() -> None:
    record = Record(Offset(0), TimestampMs(0), b"k", b"v", (), 0x81)
    assert list(iterate_records(build_batch([record]))) == [record]


def test_header_key_that_is_not_utf8_is_replaced() -> None:
    body = record_bytes(headers=b"\x02\x04a\xff\x01")
    (record,) = iterate_records(batch_around(body))
    assert record.headers == (("a\ufffd", None),)


def test_any_negative_length_is_null_as_in_kafka() -> None:
    body = record_bytes(key=encode_varint(-1), value=encode_varint(-70))
    (record,) = iterate_records(batch_around(body))
    assert (record.key, record.value) == (None, None)


def test_walk_gives_what_compaction_needs() -> None:
    batch = JAVA_BATCHES["gzip"]
    header = read_header(batch)
    body = read_body(batch, 0, header)
    walked = list(walk_records(body, header.record_count))
    end = 0
    for (start, next_end, timestamp, offset, key, is_null, at), record in zip(
        walked, JAVA_RECORDS, strict=True
    ):
        assert start == end
        assert header.base_timestamp + timestamp == record.timestamp
        assert header.base_offset + offset == record.offset
        assert key == record.key
        assert is_null == (record.value is None)
        assert start < at < next_end
        end = next_end
    assert end == len(body)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 8191, 8192, 2**20, 2**21])
def test_walk_reads_lengths_of_every_width(size: int) -> None:
    records = [
        Record(Offset(0), TimestampMs(2**50), bytes(size), b""),
        Record(Offset(2**31 - 1), TimestampMs(0), None, bytes(size)),
        Record(Offset(200), TimestampMs(2**50 + 100), b"k", None),
    ]
    body = encode_records(records, base_offset=Offset(0), base_timestamp=TimestampMs(2**50))
    assert [(walked[2], walked[3], walked[4], walked[5]) for walked in walk_records(body, 3)] == [
        (0, 0, bytes(size), False),
        (-(2**50), 2**31 - 1, None, False),
        (100, 200, b"k", True),
    ]


MALFORMED = {
    "longer than its parts": record_bytes(size=9) + b"\x00" * 8,
    "shorter than its parts": record_bytes(size=7),
    "a negative length": record_bytes(size=-9),
    "a length past the batch": record_bytes(size=2**20),
    "no room for the attributes": record_bytes(size=0),
    "a negative offset": record_bytes(offset_delta=encode_varint(-1)),
    "an offset past the batch's last": record_bytes(offset_delta=encode_varint(1)),
    "an offset of too many bits": record_bytes(offset_delta=b"\xff\xff\xff\xff\x7f"),
    "a timestamp of too many bits": record_bytes(timestamp_delta=b"\xff" * 10 + b"\x01"),
    "a timestamp past 64 bits": record_bytes(timestamp_delta=encode_varlong(2**63 - 1)),
    "a key past the record": record_bytes(key=encode_varint(50) + b"k"),
    "a value past the record": record_bytes(value=encode_varint(50) + b"v"),
    "a negative count of headers": record_bytes(headers=encode_varint(-1)),
    "more headers than bytes": record_bytes(headers=encode_varint(2**31 - 1)),
    "a header without a key": record_bytes(headers=b"\x02\x01\x00"),
    "a header key past the record": record_bytes(headers=b"\x02\x20kk"),
    "a header value past the record": record_bytes(headers=b"\x02\x02k\x20v"),
    "bytes after its headers": record_bytes(headers=b"\x00\x00"),
    "fewer bytes than seven": b"\x0a\x00\x00\x00\x01\x01",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_record_is_refused(name: str) -> None:
    with pytest.raises(ProtocolError):
        list(iterate_records(batch_around(MALFORMED[name], base_timestamp=1)))


def test_bytes_after_the_last_record_are_refused() -> None:
    with pytest.raises(ProtocolError, match="7 bytes are left"):
        list(iterate_records(batch_around(record_bytes() + bytes(7))))


def test_missing_record_is_refused() -> None:
    with pytest.raises(ProtocolError, match="ends inside it"):
        list(
            iterate_records(
                batch_around(record_bytes(value=encode_varint(10) + bytes(10)), count=2)
            )
        )


def test_corrupt_compression_is_refused() -> None:
    header = read_header(JAVA_BATCHES["none"])._replace(
        attributes=encode_attributes(codec=Codec.ZSTD)
    )
    batch = seal_batch(header, b"x" * 100)
    assert len(batch) > 61
    batch[61:65] = compress(Codec.GZIP, b"")[:4]
    with pytest.raises(ProtocolError, match="zstd body cannot be decompressed"):
        list(iterate_records(batch))
