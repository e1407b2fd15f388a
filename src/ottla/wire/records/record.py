"""The records of a batch, one by one: as values, or partially decoded for compaction.

A record stores its timestamp and offset as deltas to those of its batch. Lengths are zigzag varints
before their data. A negative length means null; Kafka writes -1 and accepts any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from ottla.model import Buffer, Offset, TimestampMs
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import DECOMPRESSED_BYTES_MAX, read_body
from ottla.wire.records.header import TimestampType, read_header
from ottla.wire.varint import read_uvarint, read_uvarlong, read_varint

RecordHeader: TypeAlias = tuple[str, bytes | None]

# start, end, timestamp delta, offset delta, key, whether the value is null, position of the value.
# Positions are within the body. A plain tuple, because a NamedTuple takes twice as long to create.
WalkedRecord: TypeAlias = tuple[int, int, int, int, bytes | None, bool, int]

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


class Record(NamedTuple):
    """A record of a batch."""

    offset: Offset
    timestamp: TimestampMs
    key: bytes | None
    value: bytes | None
    headers: tuple[RecordHeader, ...] = ()
    attributes: int = 0


def iterate_records(
    buffer: Buffer,
    position: int = 0,
    *,
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX,
) -> Iterator[Record]:
    """Every record of the batch at `position`, including control records.

    Does not verify the checksum; `validate_batch` does. Header keys that are not UTF-8 get
    replacement characters, as in Kafka's clients.
    """
    header = read_header(buffer, position)
    body = read_body(buffer, position, header, decompressed_bytes_max=decompressed_bytes_max)
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    last_offset_delta = header.last_offset_delta
    append_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    for walked in walk_records(body, header.record_count):
        start, end, timestamp_delta, offset_delta, key, _, value_position = walked
        if offset_delta > last_offset_delta:
            raise malformed_record(
                start, f"its offset is {offset_delta - last_offset_delta} too high"
            )
        timestamp = header.max_timestamp if append_time else base_timestamp + timestamp_delta
        if not _INT64_MIN <= timestamp <= _INT64_MAX:
            raise malformed_record(start, "its timestamp does not fit 64 bits")
        attributes = body[read_uvarint(body, start)[1]]
        value, headers_position = _read_bytes(body, value_position, end=end)
        headers = read_record_headers(body, headers_position, end=end)
        offset = base_offset + offset_delta
        yield Record._make((offset, timestamp, key, value, headers, attributes))


def walk_records(body: bytes, count: int) -> Iterator[WalkedRecord]:
    """Every record of a batch's decompressed body, decoded only as far as compaction needs.

    Compaction reads every record twice and needs little more than its key and position, so nothing
    after the key is decoded. One- and two-byte varints are decoded inline, because each call would
    cost half as much as the rest of the record.
    """
    body_end = len(body)
    end = 0
    try:
        for _ in range(count):
            start = end
            size = body[start]
            if size < 0x80:
                position = start + 2
                end = start + 1 + (size >> 1)
            elif (byte := body[start + 1]) < 0x80:
                position = start + 3
                end = start - 62 + (size >> 1) + (byte << 6)
            else:
                size, position = read_uvarint(body, start)
                end = position + (size >> 1)
                position += 1
            # `position` is after the attributes byte, which is unused.
            timestamp = body[position]
            position += 1
            if timestamp >= 0x80:
                if (byte := body[position]) < 0x80:
                    timestamp += (byte << 7) - 0x80
                    position += 1
                else:
                    timestamp, position = read_uvarlong(body, position - 1)
            offset = body[position]
            position += 1
            if offset >= 0x80:
                if (byte := body[position]) < 0x80:
                    offset += (byte << 7) - 0x80
                    position += 1
                else:
                    offset, position = read_uvarint(body, position - 1)
            key_size = body[position]
            position += 1
            if key_size >= 0x80:
                key_size, position = read_uvarint(body, position - 1)
            # The lowest bit of a zigzag number is its sign.
            if key_size & 1:
                key = None
            else:
                key = body[position : (position := position + (key_size >> 1))]
            if (size | offset) & 1 or position >= end or end > body_end:
                raise malformed_record(start, "its lengths contradict each other")
            yield (
                start,
                end,
                ~(timestamp >> 1) if timestamp & 1 else timestamp >> 1,
                offset >> 1,
                key,
                body[position] & 1 == 1,
                position,
            )
    except IndexError:
        raise malformed_record(start, "the batch ends inside it") from None
    if end != body_end:
        raise ProtocolError(f"{body_end - end} bytes are left after the last record of the batch")


def _read_bytes(body: bytes, position: int, *, end: int) -> tuple[bytes | None, int]:
    size, position = read_varint(body, position)
    if size < 0:
        return None, position
    data_end = position + size
    if data_end > end:
        raise malformed_record(position, f"a field of {size} bytes extends beyond its end")
    return body[position:data_end], data_end


def read_record_headers(body: bytes, position: int, *, end: int) -> tuple[RecordHeader, ...]:
    """The headers from their count on, up to the end of the record."""
    count, position = read_varint(body, position)
    if count == 0 and position == end:
        return ()
    headers: list[RecordHeader] = []
    # A header takes at least two bytes, so the count can be checked before reading headers.
    if not 0 <= count * 2 <= end - position:
        raise malformed_record(position, f"its header count is {count}, more than fit into it")
    for _ in range(count):
        key, position = _read_bytes(body, position, end=end)
        if key is None:
            raise malformed_record(position, "a header has no key")
        value, position = _read_bytes(body, position, end=end)
        headers.append((str(key, "utf-8", "replace"), value))
    if position != end:
        raise malformed_record(position, f"it does not end at byte {end}, where it should")
    return tuple(headers)


def malformed_record(position: int, reason: str) -> ProtocolError:
    return ProtocolError(f"the record at byte {position} of the batch's body: {reason}")
