"""Confluent's wire format, byte by byte."""

from __future__ import annotations

import pytest

from ottla.schemas.errors import InvalidPayloadError
from ottla.schemas.framing import (
    VALUE_HEADER,
    decode_indexes,
    encode_indexes,
    frame,
    guid_header,
    unframe,
    unframe_record,
)

GUID = "095d71cf-1255-6b9d-5e33-0ad575b3df5d"


def test_an_id_is_in_front_of_the_data() -> None:
    assert frame(258, b"x") == b"\x00\x00\x00\x01\x02x"
    assert unframe(b"\x00\x00\x00\x01\x02x")[:2] == (258, b"x")


@pytest.mark.parametrize("data", [b"", b"\x00\x00", b"\x01\x00\x00\x00\x01x"])
def test_data_without_an_id_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidPayloadError):
        unframe(data)


@pytest.mark.parametrize(
    ("indexes", "encoded"),
    [([0], b"\x00"), ([1], b"\x02\x02"), ([2, 0, 100], b"\x06\x04\x00\xc8\x01")],
)
def test_indexes_are_zigzag_varints(indexes: list[int], encoded: bytes) -> None:
    assert encode_indexes(indexes) == encoded
    assert decode_indexes(encoded + b"rest") == (indexes, len(encoded))


@pytest.mark.parametrize("data", [b"", b"\x80", b"\x06\x02", b"\x03", b"\xff" * 20, b"\xfe\x01"])
def test_broken_indexes_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidPayloadError):
        decode_indexes(data)


def test_a_header_comes_before_what_is_in_the_data() -> None:
    headers = [("other", b"x"), (VALUE_HEADER, guid_header(GUID, b"\x00"))]
    found = unframe_record(b"data", headers, is_key=False)
    assert found == (GUID, b"data", b"\x00")
