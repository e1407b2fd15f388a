"""Reads the DER encoding of a certificate (X.509): only what a node needs of it."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

SEQUENCE: Final = 0x30
_EXPLICIT_VERSION: Final = 0xA0
_LONG_FORM: Final = 0x80
_LENGTH_BYTES_MAX: Final = 4


class InvalidCertificateError(ValueError):
    """The bytes are not a certificate."""


class CertificateField(IntEnum):
    """Sequences of a certificate, by the number of fields before them, without the version."""

    VALIDITY = 3
    SUBJECT = 4


class Element(NamedTuple):
    tag: int
    start: int
    content: memoryview
    end: int


def certificate_field(certificate: bytes, field: CertificateField) -> Element:
    """Raises InvalidCertificateError or IndexError."""
    whole = expect(memoryview(certificate), 0, SEQUENCE)
    to_be_signed = expect(whole.content, 0, SEQUENCE).content
    position = 0
    if to_be_signed[0] == _EXPLICIT_VERSION:
        position = element(to_be_signed, 0).end
    for _ in range(field):
        position = element(to_be_signed, position).end
    return expect(to_be_signed, position, SEQUENCE)


def expect(data: memoryview, position: int, tag: int) -> Element:
    found = element(data, position)
    if found.tag != tag:
        raise InvalidCertificateError(
            f"invalid certificate: expected tag {tag:#x} at {position}, found {found.tag:#x}"
        )
    return found


def element(data: memoryview, position: int) -> Element:
    tag, length, start = data[position], data[position + 1], position + 2
    if length & _LONG_FORM:
        count = length & ~_LONG_FORM
        if not 0 < count <= _LENGTH_BYTES_MAX:
            raise InvalidCertificateError(f"invalid certificate: a length of {count} bytes")
        length = int.from_bytes(data[start : start + count], "big")
        start += count
    end = start + length
    if end > len(data):
        raise InvalidCertificateError("invalid certificate: it is cut off")
    return Element(tag, position, data[start:end], end)
