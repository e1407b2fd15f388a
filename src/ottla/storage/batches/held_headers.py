"""The headers of delayed delivery: what producers ask for, and what a released record says.

    ottla-deliver-at    when the record is due, in ms since the epoch, as decimal text
    ottla-cancel        cancels the held records with this record's key; its value is ignored
    ottla-held-offset   of a released record: the offset that its producer was given
    ottla-produced-at   of a released record: the timestamp that it was held with

Every record in a held batch has one of the first two: the leader adds `ottla-deliver-at` where it
is missing, and where other bytes of the record look more like it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.wire.records.encoded_record import (
    EncodedRecord,
    encode_headers,
    split_headers,
    split_record,
)
from ottla.wire.varint import encode_varint, read_varint

DELIVER_AT: Final = b"ottla-deliver-at"
CANCEL: Final = b"ottla-cancel"
HELD_OFFSET: Final = b"ottla-held-offset"
PRODUCED_AT: Final = b"ottla-produced-at"

# How a header begins in a record. Bytes that are not found need no decoding.
DELIVER_AT_START: Final = encode_varint(len(DELIVER_AT)) + DELIVER_AT
CANCEL_START: Final = encode_varint(len(CANCEL)) + CANCEL
_DELIVER_AT_BYTES: Final = len(DELIVER_AT_START)

_DIGITS_MAX: Final = 19
_DUE_MAX: Final = 2**63 - 1


class Asked(NamedTuple):
    """What the headers of a record ask for. None for a due time that cannot be read is an error;
    see `text`."""

    due_ms: int | None = None
    is_cancel: bool = False
    # Of a due time that cannot be read.
    text: str | None = None


NOTHING_ASKED: Final = Asked()


class HeldOrigin(NamedTuple):
    """Where a released record was held, and when it was due."""

    held_offset: int
    due_ms: int


def asked_of(record: EncodedRecord) -> Asked:
    """What a record's headers ask for; the last one counts if there are several."""
    if not record.header_count:
        return NOTHING_ASKED
    due_ms, text, is_cancel = None, None, False
    for key, value in split_headers(record):
        if key == DELIVER_AT:
            due_ms = _number(value)
            text = None if due_ms is not None else repr(bytes(value or b"")[:40])
        elif key == CANCEL:
            is_cancel = True
    return Asked(due_ms, is_cancel, text)


def due_of(body: bytes, start: int, end: int) -> int | None:
    """When the record between two positions is due. Its header is found without decoding the
    others, unless other bytes of the record look like it. What this finds in a record without
    such a header, or with one whose length is encoded with more bytes than necessary, may be wrong:
    `held_batch` gives these another header, after which it is right."""
    at = body.find(DELIVER_AT_START, start, end)
    if at >= 0 and body.find(DELIVER_AT_START, at + 1, end) < 0:
        size, position = read_varint(body, at + _DELIVER_AT_BYTES)
        if 0 < size <= min(_DIGITS_MAX, end - position):
            due_ms = _number(body[position : position + size])
            if due_ms is not None:
                return due_ms
    return asked_of(split_record(body, start)[0]).due_ms


def origin_of(record: EncodedRecord) -> HeldOrigin | None:
    """None for a record without the headers of a released one."""
    held = due = None
    for key, value in split_headers(record):
        if key == DELIVER_AT:
            due = _number(value)
        elif key == HELD_OFFSET:
            held = _number(value)
    return None if held is None or due is None else HeldOrigin(held, due)


def cancel_header() -> bytes:
    return encode_headers(((CANCEL, b""),))


def deliver_at_header(due_ms: int) -> bytes:
    return encode_headers(((DELIVER_AT, str(due_ms).encode()),))


def origin_headers(held_offset: int, produced_ms: int) -> bytes:
    """The two headers that a released record gets."""
    return encode_headers(
        (
            (HELD_OFFSET, str(held_offset).encode()),
            (PRODUCED_AT, str(produced_ms).encode()),
        )
    )


def _number(value: bytes | None) -> int | None:
    if value is None or not value.isdigit() or len(value) > _DIGITS_MAX:
        return None
    number = int(value)
    return number if number <= _DUE_MAX else None
