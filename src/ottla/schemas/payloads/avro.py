"""Avro: the bytes are walked by the schema, without making values.

The time is limited by the number of bytes: items that take no bytes, such as nulls, are not
walked one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.schemas.avro.parsing import AvroParser
from ottla.schemas.avro.tree import (
    AvroCollection,
    AvroEnum,
    AvroFixed,
    AvroPrimitive,
    AvroRecord,
    AvroType,
    AvroUnion,
)
from ottla.schemas.errors import InvalidPayloadError
from ottla.schemas.source import SchemaSource

# Takes the data and a position, and returns the position behind the value.
_Walk: TypeAlias = Callable[[bytes, int], int]

_LONG_BYTES_MAX: Final = 10
_INT_MAX: Final = 2**32 - 1
_LONG_MAX: Final = 2**64 - 1
_SIZES: Final = {"boolean": 1, "float": 4, "double": 8}


class AvroPayloads:
    def __init__(self, source: SchemaSource) -> None:
        """Raises InvalidSchemaError."""
        parser = AvroParser(is_strict=False)
        for reference in source.references:
            parser.parse(reference.text)
        type_ = parser.parse(source.text)
        self._name = None
        if isinstance(type_, AvroRecord | AvroEnum | AvroFixed):
            self._name = type_.name.full
        self._walk = _Walks().of(type_)

    def check(self, data: bytes, indexes: bytes | None) -> None:
        del indexes
        try:
            end = self._walk(data, 0)
        except IndexError:
            raise _cut_off() from None
        except RecursionError:
            raise InvalidPayloadError("it nests too deeply") from None
        if end != len(data):
            raise InvalidPayloadError(f"{len(data) - end} bytes are left after the value")

    def record_name(self, data: bytes, indexes: bytes | None) -> str | None:
        del data, indexes
        return self._name


class _Walks:
    """Makes the walks of one schema."""

    def __init__(self) -> None:
        self._records: dict[int, _Walk] = {}

    def of(self, type_: AvroType) -> _Walk:
        if isinstance(type_, AvroPrimitive):
            return _primitive(type_.kind)
        if isinstance(type_, AvroFixed):
            return _fixed(type_.size)
        if isinstance(type_, AvroEnum):
            return _enum(type_)
        if isinstance(type_, AvroUnion):
            return _union([self.of(each) for each in type_.branches])
        if isinstance(type_, AvroCollection):
            item = self.of(type_.element)
            if type_.kind == "map":
                return _blocks(_entry(item), takes_bytes=True)
            return _blocks(item, takes_bytes=not _is_empty(type_.element, frozenset()))
        return self._record(type_)

    def _record(self, record: AvroRecord) -> _Walk:
        known = self._records.get(id(record))
        if known is not None:
            return known
        fields: list[tuple[str, _Walk]] = []

        def walk(data: bytes, position: int) -> int:
            for name, field in fields:
                try:
                    position = field(data, position)
                except InvalidPayloadError as error:
                    raise InvalidPayloadError(f"{name}: {error}") from None
                except IndexError:
                    raise InvalidPayloadError(f"{name}: {_cut_off()}") from None
            return position

        # A field may have the type of the record.
        self._records[id(record)] = walk
        fields += [(each.name, self.of(each.type)) for each in record.fields]
        return walk


def _is_empty(type_: AvroType, seen: frozenset[int]) -> bool:
    """Whether values take no bytes."""
    if isinstance(type_, AvroPrimitive):
        return type_.kind == "null"
    if isinstance(type_, AvroFixed):
        return type_.size == 0
    if not isinstance(type_, AvroRecord) or id(type_) in seen:
        return False
    seen |= {id(type_)}
    return all(_is_empty(field.type, seen) for field in type_.fields)


def _primitive(kind: str) -> _Walk:
    if kind == "null":
        return lambda _data, position: position
    if kind == "int":
        return _int
    if kind == "long":
        return _long
    if kind == "bytes":
        return lambda data, position: _sized(data, position)[1]
    if kind == "string":
        return _string
    return _boolean if kind == "boolean" else _fixed(_SIZES[kind])


def _read_long(data: bytes, position: int) -> tuple[int, int]:
    """The number before it is unzigzagged."""
    byte = data[position]
    if byte < 0x80:
        return byte, position + 1
    number, shift, start = byte & 0x7F, 7, position
    while byte >= 0x80:
        position += 1
        byte = data[position]
        number |= (byte & 0x7F) << shift
        shift += 7
        if position - start >= _LONG_BYTES_MAX:
            raise InvalidPayloadError("a number takes too many bytes")
    return number, position + 1


def _int(data: bytes, position: int) -> int:
    if data[position] < 0x80:
        return position + 1
    number, position = _read_long(data, position)
    if number > _INT_MAX:
        raise InvalidPayloadError("a number does not fit an int")
    return position


def _long(data: bytes, position: int) -> int:
    if data[position] < 0x80:
        return position + 1
    number, position = _read_long(data, position)
    if number > _LONG_MAX:
        raise InvalidPayloadError("a number does not fit a long")
    return position


def _boolean(data: bytes, position: int) -> int:
    if data[position] > 1:
        raise InvalidPayloadError(f"a boolean has the value {data[position]}")
    return position + 1


def _sized(data: bytes, position: int) -> tuple[int, int]:
    """Where the bytes begin and end."""
    number = data[position]
    if number < 0x80:
        position += 1
    else:
        number, position = _read_long(data, position)
    end = position + (number >> 1)
    if number & 1:
        raise InvalidPayloadError("a length is negative")
    if end > len(data):
        raise _cut_off()
    return position, end


def _string(data: bytes, position: int) -> int:
    start, end = _sized(data, position)
    try:
        data[start:end].decode()
    except UnicodeDecodeError:
        raise InvalidPayloadError("a string is not UTF-8") from None
    return end


def _fixed(size: int) -> _Walk:
    def walk(data: bytes, position: int) -> int:
        if position + size > len(data):
            raise _cut_off()
        return position + size

    return walk


def _enum(enum: AvroEnum) -> _Walk:
    count = len(enum.symbols)

    def walk(data: bytes, position: int) -> int:
        number, position = _read_long(data, position)
        if number & 1 or number >> 1 >= count:
            raise InvalidPayloadError(f"{enum.name.full} has no symbol with this number")
        return position

    return walk


def _union(branches: list[_Walk]) -> _Walk:
    def walk(data: bytes, position: int) -> int:
        number, position = _read_long(data, position)
        if number & 1 or number >> 1 >= len(branches):
            raise InvalidPayloadError("a union has no branch with this number")
        return branches[number >> 1](data, position)

    return walk


def _entry(value: _Walk) -> _Walk:
    return lambda data, position: value(data, _string(data, position))


def _blocks(item: _Walk, *, takes_bytes: bool) -> _Walk:
    """The items of an array or a map: blocks with a count, up to one that is empty."""

    def walk(data: bytes, position: int) -> int:
        while True:
            number, position = _read_long(data, position)
            count = (number >> 1) ^ -(number & 1)
            if count < 0:
                # The size of the block in bytes follows.
                count = -count
                position = _long(data, position)
            if not count:
                return position
            if takes_bytes:
                if count > len(data) - position:
                    raise _cut_off()
                for _ in range(count):
                    position = item(data, position)

    return walk


def _cut_off() -> InvalidPayloadError:
    return InvalidPayloadError("the value ends too early")
