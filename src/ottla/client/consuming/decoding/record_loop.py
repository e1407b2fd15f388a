"""Decodes the records of a batch in Python, fast: this works everywhere.

Numbers of one and two bytes are decoded inline, because each call would cost half as much as the
rest of the record. Lengths are checked afterwards, by comparing where the record should end.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from ottla.client.records import ConsumedRecord
from ottla.wire.errors import ProtocolError
from ottla.wire.records.header import BatchHeader, TimestampType
from ottla.wire.records.record import RecordHeader, malformed_record, read_record_headers
from ottla.wire.varint import read_uvarint, read_uvarlong

# Offset delta, timestamp delta, key, value, headers.
DecodedFields: TypeAlias = tuple[int, int, bytes | None, bytes | None, tuple[RecordHeader, ...]]

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
# Inlined `ConsumedRecord._make`, because this is called for every record.
_new_record: Final[Any] = tuple.__new__


def decode_records(
    body: bytes, header: BatchHeader, *, topic: str, partition: int
) -> list[ConsumedRecord]:
    """All records of a batch's decompressed body, in order. Raises ProtocolError."""
    new, cls = _new_record, ConsumedRecord
    fields, times = decode_fields(body, header.record_count, header.last_offset_delta)
    base, epoch, kind = header.base_offset, header.leader_epoch, header.timestamp_type
    if kind is TimestampType.LOG_APPEND_TIME:
        time = header.max_timestamp
        return [
            new(cls, (topic, partition, base + delta, time, kind, key, value, headers, epoch))
            for delta, _, key, value, headers in fields
        ]
    time = header.base_timestamp
    if (times | abs(time)) >> 62 and not all(
        _INT64_MIN <= time + late <= _INT64_MAX for _, late, _, _, _ in fields
    ):
        raise ProtocolError(f"a timestamp of the batch at offset {base} does not fit 64 bits")
    return [
        new(cls, (topic, partition, base + delta, time + late, kind, key, value, headers, epoch))
        for delta, late, key, value, headers in fields
    ]


def decode_fields(body: bytes, count: int, last_delta: int) -> tuple[list[DecodedFields], int]:
    """Also returns all bits of the timestamp deltas, whose sum with the base may be too large."""
    fields: list[DecodedFields] = []
    add = fields.append
    body_end = len(body)
    end = times = 0
    try:
        for _ in range(count):
            start = end
            size = body[start]
            if size < 0x80:
                at = start + 2
                end = start + 1 + (size >> 1)
            elif (byte := body[start + 1]) < 0x80:
                at = start + 3
                end = start - 62 + (size >> 1) + (byte << 6)
            else:
                size, at = read_uvarint(body, start)
                end = at + (size >> 1)
                at += 1
            # `at` is after the attributes byte, which is unused.
            time = body[at]
            at += 1
            if time >= 0x80:
                if (byte := body[at]) < 0x80:
                    time += (byte << 7) - 0x80
                    at += 1
                else:
                    time, at = read_uvarlong(body, at - 1)
            delta = body[at]
            at += 1
            if delta >= 0x80:
                if (byte := body[at]) < 0x80:
                    delta += (byte << 7) - 0x80
                    at += 1
                else:
                    delta, at = read_uvarint(body, at - 1)
            length = body[at]
            at += 1
            if length >= 0x80:
                length, at = read_uvarint(body, at - 1)
            # The lowest bit of a zigzag number is its sign.
            key = None if length & 1 else body[at : (at := at + (length >> 1))]
            length = body[at]
            at += 1
            if length >= 0x80:
                if (byte := body[at]) < 0x80:
                    length += (byte << 7) - 0x80
                    at += 1
                else:
                    length, at = read_uvarint(body, at - 1)
            value = None if length & 1 else body[at : (at := at + (length >> 1))]
            if (size | delta) & 1 or end > body_end or delta >> 1 > last_delta:
                raise malformed_record(start, "its lengths or its offset contradict its batch")
            # Most records have no headers: their count is the last byte, and zero.
            if at == end - 1 and not body[at]:
                headers: tuple[RecordHeader, ...] = ()
            else:
                headers = read_record_headers(body, at, end=end)
            times |= time
            time = ~(time >> 1) if time & 1 else time >> 1
            add((delta >> 1, time, key, value, headers))
    except IndexError:
        raise malformed_record(start, "the batch ends inside it") from None
    if end != body_end:
        raise ProtocolError(f"{body_end - end} bytes are left after the last record of the batch")
    return fields, times
