"""The subject of a certificate as text, in the form of RFC 2253, which Kafka's principals have.

    CN=broker1,OU=kafka,O=Example\\, Inc.,C=SE

As in Java, these attributes have names: CN, C, O, OU, L, ST, STREET, DC and UID. Of any other one
the text has its number and its encoded value: 1.2.840.113549.1.9.1=#16...
"""

from __future__ import annotations

from typing import Final, NamedTuple

_NAMES: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
_SEQUENCE: Final = 0x30
_SET: Final = 0x31
_OBJECT_IDENTIFIER: Final = 0x06
_EXPLICIT_VERSION: Final = 0xA0
# UTF8String, NumericString, PrintableString, TeletexString, IA5String, UniversalString, BMPString.
_ENCODINGS: Final = {
    0x0C: "utf-8",
    0x12: "ascii",
    0x13: "ascii",
    0x14: "latin-1",
    0x16: "ascii",
    0x1C: "utf-32-be",
    0x1E: "utf-16-be",
}
_ESCAPED: Final = frozenset(',+"\\<>;')
_LONG_FORM: Final = 0x80
_LENGTH_BYTES_MAX: Final = 4
# Before the subject: serial number, signature algorithm, issuer, validity.
_FIELDS_BEFORE_SUBJECT: Final = 4


class InvalidCertificateError(ValueError):
    """The bytes are not a certificate."""


class _Element(NamedTuple):
    tag: int
    start: int
    content: memoryview
    end: int


def subject_of(certificate: bytes) -> str:
    """The subject of a certificate in DER form. Raises InvalidCertificateError."""
    try:
        return _name(_subject(memoryview(certificate)))
    except (IndexError, UnicodeDecodeError) as error:
        raise InvalidCertificateError(f"invalid certificate: {error}") from None


def _subject(der: memoryview) -> memoryview:
    whole = _expect(der, 0, _SEQUENCE)
    to_be_signed = _expect(whole.content, 0, _SEQUENCE).content
    position = 0
    if to_be_signed[0] == _EXPLICIT_VERSION:
        position = _element(to_be_signed, 0).end
    for _ in range(_FIELDS_BEFORE_SUBJECT):
        position = _element(to_be_signed, position).end
    return _expect(to_be_signed, position, _SEQUENCE).content


def _name(subject: memoryview) -> str:
    parts = []
    position = 0
    while position < len(subject):
        relative = _expect(subject, position, _SET)
        position = relative.end
        parts.append(_relative_name(relative.content))
    return ",".join(reversed(parts))


def _relative_name(content: memoryview) -> str:
    attributes = []
    position = 0
    while position < len(content):
        attribute = _expect(content, position, _SEQUENCE)
        position = attribute.end
        kind = _expect(attribute.content, 0, _OBJECT_IDENTIFIER)
        value = _element(attribute.content, kind.end)
        attributes.append(_attribute(_identifier(kind.content), attribute.content, value))
    return "+".join(attributes)


def _attribute(identifier: str, content: memoryview, value: _Element) -> str:
    name, encoding = _NAMES.get(identifier), _ENCODINGS.get(value.tag)
    if name is None or encoding is None:
        return f"{name or identifier}=#{content[value.start : value.end].hex()}"
    return f"{name}={_escaped(bytes(value.content).decode(encoding))}"


def _escaped(text: str) -> str:
    quoted = "".join(f"\\{letter}" if letter in _ESCAPED else letter for letter in text)
    if quoted.startswith(("#", " ")):
        quoted = "\\" + quoted
    if quoted.endswith(" ") and len(text) > 1:
        quoted = quoted[:-1] + "\\ "
    return quoted


def _identifier(content: memoryview) -> str:
    numbers = []
    number = 0
    for byte in content:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _expect(data: memoryview, position: int, tag: int) -> _Element:
    found = _element(data, position)
    if found.tag != tag:
        raise InvalidCertificateError(
            f"invalid certificate: expected tag {tag:#x} at {position}, found {found.tag:#x}"
        )
    return found


def _element(data: memoryview, position: int) -> _Element:
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
    return _Element(tag, position, data[start:end], end)
