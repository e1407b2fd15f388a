"""Variable-length integers against known bytes and against kio."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.serial import writers as kio_writers

from ottla.wire.errors import ProtocolError
from ottla.wire.varint import (
    encode_uvarint,
    encode_uvarlong,
    encode_varint,
    encode_varlong,
    read_uvarint,
    read_uvarlong,
    read_varint,
    read_varlong,
)

Reader = Callable[[bytes, int], tuple[int, int]]
READERS: list[Reader] = [read_uvarint, read_uvarlong, read_varint, read_varlong]


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16383, "ff7f"),
        (16384, "808001"),
        (2**32 - 1, "ffffffff0f"),
    ],
)
def test_unsigned_values_have_these_bytes(value: int, encoded: str) -> None:
    assert encode_uvarint(value) == encode_uvarlong(value) == bytes.fromhex(encoded)


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (-64, "7f"), (64, "8001"), (-(2**31), "ffffffff0f")],
)
def test_zigzag_values_have_these_bytes(value: int, encoded: str) -> None:
    assert encode_varint(value) == encode_varlong(value) == bytes.fromhex(encoded)


@given(st.integers(0, 2**32 - 1), st.binary(max_size=3), st.binary(max_size=3))
def test_uvarint_is_read_wherever_it_lies(value: int, before: bytes, after: bytes) -> None:
    encoded = encode_uvarint(value)
    buffer = memoryview(bytearray(before + encoded + after))
    assert read_uvarint(buffer, len(before)) == (value, len(before) + len(encoded))


@given(st.integers(0, 2**64 - 1))
def test_uvarlong_round_trips(value: int) -> None:
    encoded = encode_uvarlong(value)
    assert read_uvarlong(encoded, 0) == (value, len(encoded))


@given(st.integers(-(2**31), 2**31 - 1))
def test_varint_round_trips_and_equals_kio(value: int) -> None:
    encoded = encode_varint(value)
    assert read_varint(encoded, 0) == (value, len(encoded))
    judged = io.BytesIO()
    kio_writers.write_signed_varint(judged, value)
    assert encoded == judged.getvalue()


@given(st.integers(-(2**63), 2**63 - 1))
def test_varlong_round_trips_and_equals_kio(value: int) -> None:
    encoded = encode_varlong(value)
    assert read_varlong(encoded, 0) == (value, len(encoded))
    judged = io.BytesIO()
    kio_writers.write_signed_varlong(judged, value)
    assert encoded == judged.getvalue()


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("encoded", [b"", b"\x80", b"\xff\xff"])
def test_truncated_input_is_refused(read: Reader, encoded: bytes) -> None:
    with pytest.raises(ProtocolError, match="ends inside"):
        read(encoded, 0)


@pytest.mark.parametrize(
    ("read", "encoded"),
    [
        (read_uvarint, b"\x80\x80\x80\x80\x80\x00"),
        (read_uvarint, b"\xff\xff\xff\xff\x1f"),
        (read_varint, b"\xff\xff\xff\xff\x1f"),
        (read_uvarlong, b"\x80" * 10 + b"\x00"),
        (read_varlong, b"\xff" * 9 + b"\x02"),
    ],
)
def test_more_than_the_type_holds_is_refused(read: Reader, encoded: bytes) -> None:
    with pytest.raises(ProtocolError, match="does not fit"):
        read(encoded, 0)


def test_longer_encoding_than_necessary_is_read_as_kafka_reads_it() -> None:
    assert read_uvarint(b"\x85\x80\x80\x80\x00", 0) == (5, 5)
    assert read_varlong(b"\x81\x00", 0) == (-1, 2)


@pytest.mark.parametrize(
    ("encode", "value"),
    [
        (encode_uvarint, -1),
        (encode_uvarint, 2**32),
        (encode_uvarlong, 2**64),
        (encode_varint, 2**31),
        (encode_varint, -(2**31) - 1),
        (encode_varlong, 2**63),
        (encode_varlong, -(2**63) - 1),
    ],
)
def test_value_that_does_not_fit_is_not_encoded(encode: Callable[[int], bytes], value: int) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        encode(value)
