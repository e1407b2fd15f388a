"""When certificates expire, whichever form their time has."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ottla.security.certificate_validity import expiry_of
from ottla.security.der import InvalidCertificateError


def element(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    assert len(content) < 0x80
    return bytes([tag, len(content)]) + content


def certificate(tag: int, text: bytes) -> bytes:
    """The beginning of one: version, serial number, algorithm, issuer, validity."""
    validity = element(0x30, element(0x17, b"200101000000Z"), element(tag, text))
    before = [element(0xA0, element(2, b"\x02")), element(2, b"\x01"), element(0x30), element(0x30)]
    return element(0x30, element(0x30, *before, validity))


@pytest.mark.parametrize(
    ("tag", "text", "expected"),
    [
        (0x17, b"270131120000Z", datetime(2027, 1, 31, 12, tzinfo=UTC)),
        (0x17, b"491231235959Z", datetime(2049, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (0x17, b"500101000000Z", datetime(1950, 1, 1, tzinfo=UTC)),
        (0x18, b"20500101000000Z", datetime(2050, 1, 1, tzinfo=UTC)),
        (0x18, b"99991231235959Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_expiry_is_read_in_both_forms(tag: int, text: bytes, expected: datetime) -> None:
    assert expiry_of(certificate(tag, text)) == expected


@pytest.mark.parametrize(
    "data", [b"", b"hello", certificate(0x17, b"soon"), certificate(0x04, b"270131120000Z")]
)
def test_anything_else_is_no_certificate(data: bytes) -> None:
    with pytest.raises(InvalidCertificateError):
        expiry_of(data)
