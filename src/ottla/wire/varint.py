"""Variable-length integers: seven bits per byte, lowest first; the high bit means that more follow.

Kafka has four kinds: unsigned and zigzag, of 32 bits (at most five bytes) and 64 bits (at most
ten). Each reader takes a buffer and a position and returns the value and the position after it.
Most values on the wire are lengths and deltas below 128, so one-byte values have a fast path and
small values are encoded by table lookup.

Encodings that are longer than necessary are accepted, as in Kafka; those that exceed the type's
bytes or bits are not.
"""

from __future__ import annotations

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError

_VARINT_BITS = 32
_VARLONG_BITS = 64


def _encode(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


# All one-byte and two-byte encodings.
_LAST_BYTES = [bytes((low,)) for low in range(0x80)]
_FIRST_BYTES = [bytes((low | 0x80,)) for low in range(0x80)]
_SMALL_ENCODINGS = (
    *_LAST_BYTES,
    *[first + last for last in _LAST_BYTES[1:] for first in _FIRST_BYTES],
)
_SMALL_COUNT = len(_SMALL_ENCODINGS)
# The zigzag encodings of the numbers from 0 to 8191: a look-up instead of a call, where each call
# would count.
ZIGZAG_ENCODINGS = _SMALL_ENCODINGS[::2]


def encode_uvarint(value: int) -> bytes:
    if 0 <= value < _SMALL_COUNT:
        return _SMALL_ENCODINGS[value]
    _require_fit(value, lowest=0, bits=_VARINT_BITS)
    return _encode(value)


def encode_uvarlong(value: int) -> bytes:
    if 0 <= value < _SMALL_COUNT:
        return _SMALL_ENCODINGS[value]
    _require_fit(value, lowest=0, bits=_VARLONG_BITS)
    return _encode(value)


def encode_varint(value: int) -> bytes:
    zigzag = (value << 1) ^ (value >> 31)
    if 0 <= zigzag < _SMALL_COUNT:
        return _SMALL_ENCODINGS[zigzag]
    _require_fit(value, lowest=-1 << 31, bits=_VARINT_BITS)
    return _encode(zigzag)


def encode_varlong(value: int) -> bytes:
    zigzag = (value << 1) ^ (value >> 63)
    if 0 <= zigzag < _SMALL_COUNT:
        return _SMALL_ENCODINGS[zigzag]
    _require_fit(value, lowest=-1 << 63, bits=_VARLONG_BITS)
    return _encode(zigzag)


def read_uvarint(buffer: Buffer, position: int) -> tuple[int, int]:
    try:
        byte = buffer[position]
        if byte < 0x80:
            return byte, position + 1
        second = buffer[position + 1]
        if second < 0x80:
            return byte & 0x7F | second << 7, position + 2
    except IndexError:
        raise _truncated(position) from None
    return _read_long_form(buffer, position, bits=_VARINT_BITS)


def read_uvarlong(buffer: Buffer, position: int) -> tuple[int, int]:
    try:
        byte = buffer[position]
    except IndexError:
        raise _truncated(position) from None
    if byte < 0x80:
        return byte, position + 1
    return _read_long_form(buffer, position, bits=_VARLONG_BITS)


def read_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    zigzag, position = read_uvarint(buffer, position)
    return (zigzag >> 1) ^ -(zigzag & 1), position


def read_varlong(buffer: Buffer, position: int) -> tuple[int, int]:
    zigzag, position = read_uvarlong(buffer, position)
    return (zigzag >> 1) ^ -(zigzag & 1), position


def _read_long_form(buffer: Buffer, start: int, *, bits: int) -> tuple[int, int]:
    value = shift = 0
    position = start
    try:
        while shift < bits:
            byte = buffer[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> bits:
                    break
                return value, position
            shift += 7
    except IndexError:
        raise _truncated(start) from None
    raise ProtocolError(f"the variable-length integer at byte {start} does not fit {bits} bits")


def _truncated(position: int) -> ProtocolError:
    return ProtocolError(f"the buffer ends inside the variable-length integer at byte {position}")


def _require_fit(value: int, *, lowest: int, bits: int) -> None:
    if not 0 <= value - lowest < 1 << bits:
        raise ValueError(f"{value} does not fit a variable-length integer of {bits} bits")
