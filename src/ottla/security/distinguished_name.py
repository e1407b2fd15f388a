"""The subject of a certificate as text, in the form of RFC 2253, which Kafka's principals have.

    CN=broker1,OU=kafka,O=Example\\, Inc.,C=SE

As in Java, these attributes have names: CN, C, O, OU, L, ST, STREET, DC and UID. Of any other one
the text has its number and its encoded value: 1.2.840.113549.1.9.1=#16...
"""

from __future__ import annotations

from typing import Final

from ottla.security.der import (
    SEQUENCE,
    CertificateField,
    Element,
    InvalidCertificateError,
    certificate_field,
    element,
    expect,
)

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
_SET: Final = 0x31
_OBJECT_IDENTIFIER: Final = 0x06
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


def subject_of(certificate: bytes) -> str:
    """The subject of a certificate in DER form. Raises InvalidCertificateError."""
    try:
        return _name(certificate_field(certificate, CertificateField.SUBJECT).content)
    except (IndexError, UnicodeDecodeError) as error:
        raise InvalidCertificateError(f"invalid certificate: {error}") from None


def _name(subject: memoryview) -> str:
    parts = []
    position = 0
    while position < len(subject):
        relative = expect(subject, position, _SET)
        position = relative.end
        parts.append(_relative_name(relative.content))
    return ",".join(reversed(parts))


def _relative_name(content: memoryview) -> str:
    attributes = []
    position = 0
    while position < len(content):
        attribute = expect(content, position, SEQUENCE)
        position = attribute.end
        kind = expect(attribute.content, 0, _OBJECT_IDENTIFIER)
        value = element(attribute.content, kind.end)
        attributes.append(_attribute(_identifier(kind.content), attribute.content, value))
    return "+".join(attributes)


def _attribute(identifier: str, content: memoryview, value: Element) -> str:
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
