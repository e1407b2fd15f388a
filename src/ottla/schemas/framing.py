"""How a record names its schema: Confluent's wire format.

In front of the data, a zero and the id in four bytes; or in a header, a one and the GUID in
sixteen bytes. Protobuf has the place of the message in its file behind it: the number of indexes
and the indexes, from the outermost message to the innermost, as zigzag varints; a single zero
stands for the first message.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from ottla.schemas.errors import InvalidPayloadError

KEY_HEADER: Final = "__key_schema_id"
VALUE_HEADER: Final = "__value_schema_id"
_ID: Final = struct.Struct(">bi")
_ID_MAGIC: Final = 0
_GUID_MAGIC: Final = 1
_GUID_BYTES: Final = 16
_INDEXES_MAX: Final = 64
_SHIFT_MAX: Final = 63


class FramedData(NamedTuple):
    """`schema` is an id or the text of a GUID; `data` begins with the indexes for Protobuf if the
    id is in front of it."""

    schema: int | str
    data: bytes
    indexes: bytes | None = None


def frame(id_: int, data: bytes) -> bytes:
    return _ID.pack(_ID_MAGIC, id_) + data


def unframe(data: bytes) -> FramedData:
    """Raises InvalidPayloadError."""
    if len(data) < _ID.size or data[0] != _ID_MAGIC:
        raise InvalidPayloadError("the record does not begin with the id of a schema")
    return FramedData(_ID.unpack_from(data)[1], data[_ID.size :])


def unframe_record(
    data: bytes, headers: Iterable[tuple[str, bytes | None]], *, is_key: bool
) -> FramedData:
    """By the header if there is one. Raises InvalidPayloadError."""
    name = KEY_HEADER if is_key else VALUE_HEADER
    for found, value in headers:
        if found == name and value and value[0] == _GUID_MAGIC and len(value) > _GUID_BYTES:
            text = value[1 : _GUID_BYTES + 1].hex()
            guid = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
            return FramedData(guid, data, value[_GUID_BYTES + 1 :])
    return unframe(data)


def guid_header(guid: str, indexes: bytes = b"") -> bytes:
    return bytes([_GUID_MAGIC]) + bytes.fromhex(guid.replace("-", "")) + indexes


def encode_indexes(indexes: list[int]) -> bytes:
    if indexes == [0]:
        return b"\x00"
    return b"".join(map(_zigzag, (len(indexes), *indexes)))


def decode_indexes(data: bytes) -> tuple[list[int], int]:
    """The indexes, and where the message begins. Raises InvalidPayloadError."""
    count, position = _read_zigzag(data, 0)
    if count == 0:
        return [0], position
    if not 0 < count <= _INDEXES_MAX:
        raise InvalidPayloadError(f"the record has an invalid number of message indexes: {count}")
    indexes = []
    for _ in range(count):
        index, position = _read_zigzag(data, position)
        indexes.append(index)
    return indexes, position


def _zigzag(number: int) -> bytes:
    left = (number << 1) ^ (number >> 63)
    encoded = bytearray()
    while left > 0x7F:
        encoded.append(left & 0x7F | 0x80)
        left >>= 7
    encoded.append(left)
    return bytes(encoded)


def _read_zigzag(data: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if position >= len(data) or shift > _SHIFT_MAX:
            raise InvalidPayloadError("the record ends within its message indexes")
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), position
