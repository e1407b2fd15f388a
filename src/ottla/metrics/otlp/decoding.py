"""Numbers in MetricsData of OTLP 1, as clients push them (KIP-714).

The bytes come from any client, so everything is bounded: messages that are small by nature have a
limited number of fields, and the reading pauses where a client could make it long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from ottla.metrics.otlp.protobuf import Field, ProtobufError, as_double, as_signed64, fields

_TEXT_LENGTH_MAX: Final = 255
# Of a metric's description, a data point or an attribute. No client comes near.
_FIELDS_MAX: Final = 64
_FIELDS_PER_PIECE: Final = 100
_DELTA: Final = 1

Attributes: TypeAlias = tuple[tuple[str, str], ...]


class ReceivedPoint(NamedTuple):
    """A number. `attributes` are those of the resource and the point, sorted by name. A counter's
    `is_delta` says that its value is the growth since the point before."""

    metric: str
    attributes: Attributes
    value: float
    is_counter: bool
    is_delta: bool


def received_points(data: bytes) -> Iterator[ReceivedPoint | None]:
    """The points of all gauges and sums; other kinds are left out. None marks a place where the
    caller may pause. Raises ProtobufError."""
    for of_resource in _nested(memoryview(data), 1):
        if of_resource is None:
            yield None
            continue
        resource: dict[str, str] = {}
        for part in _nested(of_resource, 1):
            if part is not None:
                resource |= _attributes(part, 1)
        for scope in _nested(of_resource, 2):
            for metric in () if scope is None else _nested(scope, 2):
                yield None
                if metric is not None:
                    yield from _points_of(metric, resource)


def _points_of(metric: memoryview, resource: dict[str, str]) -> Iterator[ReceivedPoint | None]:
    name, data, is_sum = "", None, False
    for number, value in _few(metric):
        if number == 1:
            name = _text(value)
        elif number in (5, 7):
            data, is_sum = _bytes(value), number == 7
    if data is None:
        return
    is_monotonic = is_delta = False
    if is_sum:
        for count, (number, value) in enumerate(fields(data), start=1):
            is_delta = value == _DELTA if number == 2 else is_delta
            is_monotonic = bool(value) if number == 3 else is_monotonic
            if count % _FIELDS_PER_PIECE == 0:
                yield None
    for point in _nested(data, 1):
        if point is None:
            yield None
            continue
        found = _number_and_attributes(point)
        if found is not None:
            number_, own = found
            attributes = tuple(sorted((resource | own).items()))
            yield ReceivedPoint(name, attributes, number_, is_monotonic, is_delta)


def _number_and_attributes(point: memoryview) -> tuple[float, dict[str, str]] | None:
    found: float | None = None
    attributes: dict[str, str] = {}
    for number, value in _few(point):
        if number == 4:
            found = as_double(_bits(value))
        elif number == 6:
            found = as_signed64(_bits(value))
        elif number == 7:
            name, text = _key_value(_bytes(value))
            attributes[name] = text
    return None if found is None else (found, attributes)


def _attributes(message: memoryview, number: int) -> dict[str, str]:
    """The attributes in a field of a small message."""
    return dict(_key_value(_bytes(value)) for each, value in _few(message) if each == number)


def _key_value(message: memoryview) -> tuple[str, str]:
    name, text = "", ""
    for number, value in _few(message):
        if number == 1:
            name = _text(value)
        elif number == 2:
            text = _any_value(_bytes(value))
    return name, text


def _any_value(message: memoryview) -> str:
    """As a text. Arrays and the like are empty."""
    text = ""
    for number, value in _few(message):
        if number == 1:
            text = _text(value)
        elif number == 2:
            text = "true" if value else "false"
        elif number == 3:
            text = str(as_signed64(_bits(value)))
        elif number == 4:
            text = repr(as_double(_bits(value)))
    return text


def _nested(message: memoryview, number: int) -> Iterator[memoryview | None]:
    """The messages in a repeated field. None marks a place to pause."""
    for count, (each, value) in enumerate(fields(message), start=1):
        if each == number:
            yield _bytes(value)
        if count % _FIELDS_PER_PIECE == 0:
            yield None


def _few(message: memoryview) -> Iterator[Field]:
    for count, field in enumerate(fields(message)):
        if count >= _FIELDS_MAX:
            raise ProtobufError(f"a message has more than {_FIELDS_MAX} fields")
        yield field


def _text(value: int | memoryview) -> str:
    found = _bytes(value)
    if len(found) > _TEXT_LENGTH_MAX:
        raise ProtobufError(f"a text has {len(found)} bytes; {_TEXT_LENGTH_MAX} are allowed")
    return str(found, "utf-8", "replace")


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ProtobufError("a number where a message or a text must be")
    return value


def _bits(value: int | memoryview) -> int:
    if not isinstance(value, int):
        raise ProtobufError("a message or a text where a number must be")
    return value
