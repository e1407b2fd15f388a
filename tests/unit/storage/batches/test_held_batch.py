"""Held batches with bytes that look like headers of delayed delivery."""

from __future__ import annotations

import pytest

from ottla.model import Offset, TimestampMs
from ottla.storage.batches.held_batch import held_batch
from ottla.storage.batches.held_headers import (
    CANCEL,
    CANCEL_START,
    DELIVER_AT,
    DELIVER_AT_START,
    due_of,
)
from ottla.storage.log_config import LogConfig
from ottla.wire.records import Record, build_batch
from ottla.wire.records.batch import read_body
from ottla.wire.records.header import read_header
from ottla.wire.varint import encode_varint, encode_varlong

_NOW_MS = 1_000_000
_CONFIG = LogConfig(delays=True, delay_ms=7_000)
# The length 16, encoded with two bytes.
_LONG_DELIVER_AT = b"\xa0\x00" + DELIVER_AT
_LONG_CANCEL = b"\x98\x00" + CANCEL


def _record(value: bytes, *headers: tuple[bytes, bytes]) -> bytes:
    content = encode_varint(1) + b"k" + encode_varint(len(value)) + value
    encoded = b"".join(key + encode_varint(len(text)) + text for key, text in headers)
    delta = encode_varlong(0) + encode_varint(0)
    record = b"\0" + delta + content + encode_varint(len(headers)) + encoded
    return encode_varint(len(record)) + record


def _held_body(body: bytes, *, holds_all: bool = False) -> bytes:
    record = Record(Offset(0), TimestampMs(_NOW_MS), b"k", b"v", ())
    header = read_header(build_batch([record]))
    batch = held_batch(body, header, _CONFIG, now_ms=_NOW_MS, holds_all=holds_all)
    assert batch is not None
    return bytes(read_body(batch, 0, read_header(batch)))


def _fake(text: bytes) -> bytes:
    return DELIVER_AT_START + encode_varint(len(text)) + text


@pytest.mark.parametrize("text", [b"1", b"9" * 19, b"9" * 30, b"9" * 5_000, b"x"])
@pytest.mark.parametrize(
    ("headers", "expected_ms"),
    [
        (((_LONG_DELIVER_AT, b"1060000"),), 1_060_000),
        (((DELIVER_AT_START, b"1060000"),), 1_060_000),
        ((), _NOW_MS + 7_000),
    ],
    ids=["a long length", "the usual length", "no header"],
)
def test_a_value_that_looks_like_a_due_time_is_none(
    headers: tuple[tuple[bytes, bytes], ...], expected_ms: int, text: bytes
) -> None:
    body = _held_body(_record(_fake(text), *headers))

    assert due_of(body, 0, len(body)) == expected_ms


def test_a_value_with_the_due_time_of_the_header_needs_no_second_header() -> None:
    record = _record(b"v", (DELIVER_AT_START, b"1060000"))

    assert _held_body(record) == record


def test_a_due_time_is_not_read_beyond_its_record() -> None:
    record = _record(b"v", (_LONG_DELIVER_AT, b"1060000"), (b"\x02x", DELIVER_AT_START + b"\x26"))
    body = _held_body(record) + b"1" * 40

    assert due_of(body, 0, len(body) - 40) == 1_060_000


def test_a_cancellation_is_found_however_its_length_is_encoded() -> None:
    assert CANCEL_START in _held_body(_record(b"", (_LONG_CANCEL, b"")), holds_all=True)
