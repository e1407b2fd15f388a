"""The binary encoding of Protocol Buffers, as far as OTLP needs it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import Final, TypeAlias

_VARINT_BYTES_MAX: Final = 10
_SIXTY_FOUR_BITS: Final = 0xFFFF_FFFF_FFFF_FFFF
_FIXED64: Final = Struct("<Q")
_FIXED32: Final = Struct("<I")
_SIGNED64: Final = Struct("<q")
_DOUBLE: Final = Struct("<d")


class WireType(IntEnum):
    VARINT = 0
    FIXED64 = 1
    BYTES = 2
    FIXED32 = 5


class ProtobufError(ValueError):
    """The bytes are not a message."""


# The number of a field, and its value: a number for VARINT and FIXED types.
Field: TypeAlias = tuple[int, int | memoryview]


def varint(value: int) -> bytes:
    """`value` is not negative."""
    if value < 0x80:
        return bytes((value,))
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def tag(number: int, wire_type: WireType) -> bytes:
    return varint(number << 3 | wire_type)


def number_field(number: int, value: int) -> bytes:
    return tag(number, WireType.VARINT) + varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Also of a nested message."""
    return b"".join((tag(number, WireType.BYTES), varint(len(value)), value))


def text_field(number: int, value: str) -> bytes:
    # File names may have bytes that are no UTF-8.
    return bytes_field(number, value.encode("utf-8", "replace"))


def fixed64_field(number: int, value: int) -> bytes:
    return tag(number, WireType.FIXED64) + _FIXED64.pack(value)


def signed64_field(number: int, value: int) -> bytes:
    return tag(number, WireType.FIXED64) + _SIGNED64.pack(value)


def double_field(number: int, value: float) -> bytes:
    return tag(number, WireType.FIXED64) + _DOUBLE.pack(value)


def fields(message: memoryview) -> Iterator[Field]:
    """The fields of a message in their order. Raises ProtobufError."""
    position, end = 0, len(message)
    while position < end:
        key, position = _read_varint(message, position)
        number, wire_type = key >> 3, key & 0b111
        if not number:
            raise ProtobufError("a field has the number 0")
        if wire_type == WireType.VARINT:
            value, position = _read_varint(message, position)
            yield number, value
        elif wire_type == WireType.BYTES:
            size, start = _read_varint(message, position)
            position = start + size
            if position > end:
                raise ProtobufError(f"field {number} has {size} bytes, {end - start} are left")
            yield number, message[start:position]
        elif wire_type in (WireType.FIXED64, WireType.FIXED32):
            fixed = _FIXED64 if wire_type == WireType.FIXED64 else _FIXED32
            if position + fixed.size > end:
                raise ProtobufError(f"field {number} is cut off")
            (value,) = fixed.unpack_from(message, position)
            position += fixed.size
            yield number, value
        else:
            raise ProtobufError(f"field {number} has the unknown wire type {wire_type}")


def as_double(bits: int) -> float:
    """A FIXED64 value that is a double."""
    value: float = _DOUBLE.unpack(_FIXED64.pack(bits))[0]
    return value


def as_signed64(bits: int) -> int:
    """A FIXED64 value that is an sfixed64."""
    return bits - (1 << 64) if bits >> 63 else bits


def _read_varint(message: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for number, byte in enumerate(message[position : position + _VARINT_BYTES_MAX]):
        value |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return value & _SIXTY_FOUR_BITS, position + number + 1
    raise ProtobufError("a number is cut off or too long")
