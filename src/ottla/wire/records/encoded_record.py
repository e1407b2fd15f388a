"""A record whose fields stay encoded, so that a copy with other deltas or more headers is exact.

Decoding and encoding a record would replace header keys that are not UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ottla.wire.errors import ProtocolError
from ottla.wire.varint import encode_varint, encode_varlong, read_varint, read_varlong


class EncodedRecord(NamedTuple):
    """The parts of a record. `content` has the key and the value, `headers` all headers without
    their count."""

    attributes: int
    timestamp_delta: int
    offset_delta: int
    key: bytes | None
    content: bytes
    header_count: int
    headers: bytes


def split_record(body: bytes, start: int = 0) -> tuple[EncodedRecord, int]:
    """The record that begins at `start`, and the position after it."""
    size, first = read_varint(body, start)
    end = first + size
    if not first < end <= len(body):
        raise ProtocolError(f"the record at byte {start} does not fit its batch")
    timestamp_delta, position = read_varlong(body, first + 1)
    offset_delta, content_at = read_varint(body, position)
    key_size, position = read_varint(body, content_at)
    key = None
    if key_size >= 0:
        key = body[position : position + key_size]
        position += key_size
    value_size, position = read_varint(body, position)
    position += max(value_size, 0)
    content_end = position
    count, position = read_varint(body, position)
    if position > end or count < 0:
        raise ProtocolError(f"the record at byte {start} of the batch is malformed")
    content, headers = body[content_at:content_end], body[position:end]
    return (
        EncodedRecord(body[first], timestamp_delta, offset_delta, key, content, count, headers),
        end,
    )


def split_records(body: bytes, count: int) -> Iterator[EncodedRecord]:
    position = 0
    for _ in range(count):
        record, position = split_record(body, position)
        yield record
    if position != len(body):
        raise ProtocolError(f"{len(body) - position} bytes are left after the last record")


def split_headers(record: EncodedRecord) -> Iterator[tuple[bytes, bytes | None]]:
    """The keys and values of the headers."""
    data, position = record.headers, 0
    for _ in range(record.header_count):
        size, position = read_varint(data, position)
        key = data[position : position + size]
        position += max(size, 0)
        size, position = read_varint(data, position)
        value = None if size < 0 else data[position : position + size]
        position += max(size, 0)
        if position > len(data):
            raise ProtocolError("a header extends beyond the end of its record")
        yield key, value


def encode_headers(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers without their count."""
    return b"".join(
        part
        for key, value in headers
        for part in (encode_varint(len(key)), key, encode_varint(len(value)), value)
    )


def join_record(
    record: EncodedRecord,
    *,
    timestamp_delta: int,
    offset_delta: int,
    more_headers: bytes = b"",
    more_count: int = 0,
) -> bytes:
    """The record with other deltas, and headers added to its own."""
    joined = b"".join(
        (
            record.attributes.to_bytes(1),
            encode_varlong(timestamp_delta),
            encode_varint(offset_delta),
            record.content,
            encode_varint(record.header_count + more_count),
            record.headers,
            more_headers,
        )
    )
    return encode_varint(len(joined)) + joined
