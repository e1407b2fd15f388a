"""When a certificate expires."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from ottla.security.der import (
    CertificateField,
    InvalidCertificateError,
    certificate_field,
    element,
)

# UTCTime has two digits of the year, GeneralizedTime four.
_FORMATS: Final = {0x17: "%y%m%d%H%M%SZ", 0x18: "%Y%m%d%H%M%SZ"}
# RFC 5280: two digits from 50 on belong to the 20th century. Python begins with 69.
_CENTURY_ENDS: Final = 2050


def expiry_of(certificate: bytes) -> datetime:
    """Of a certificate in DER form. Raises InvalidCertificateError."""
    try:
        validity = certificate_field(certificate, CertificateField.VALIDITY).content
        end = element(validity, element(validity, 0).end)
        text = bytes(end.content).decode("ascii")
        expiry = datetime.strptime(text, _FORMATS[end.tag]).replace(tzinfo=UTC)
    except (IndexError, KeyError, ValueError) as error:
        raise InvalidCertificateError(f"invalid certificate: {error}") from None
    if end.tag == 0x17 and expiry.year >= _CENTURY_ENDS:
        return expiry.replace(year=expiry.year - 100)
    return expiry
