"""kio's entities made of our messages.

kio has a dataclass per message and version, with richer types than the wire's in places: error
codes are an enumeration, durations and times are those of `datetime`, a UUID of zeros is None. Not
every number has such a value, so a message is bent to what both can hold while it is converted.
"""

import dataclasses
import re
import typing
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from types import UnionType
from typing import Any
from uuid import UUID

from kio.index import load_entity_module
from kio.schema.errors import ErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from ottla.wire.schema import Message, Struct
from ottla.wire.schema.fields import Field, fields_of
from ottla.wire.schema.types import Array, Nested
from tests.support.kafka.protocol_table import (
    layouts_by_version,
    message_class_name,
    message_names,
    squash,
)

ERROR_CODES = sorted(int(code) for code in ErrorCode)


def kio_pairs() -> list[tuple[str, int]]:
    """Every message and version of the table that kio has too."""
    return [
        (name, version)
        for name in message_names()
        for version in layouts_by_version(name)
        if _index(name)[1] in schema_name_map.get(_index(name)[0], {}).get(version, {})
    ]


def entity_type(name: str, version: int) -> Any:
    schema, kind = _index(name)
    return getattr(load_entity_module(schema, version, kind), message_class_name(name))


def _index(name: str) -> tuple[str, Any]:
    name = message_class_name(name)
    kind = EntityType.data
    for suffix in ("Request", "Response"):
        if name.endswith(suffix):
            name, kind = name.removesuffix(suffix), EntityType[suffix.lower()]
    if name in ("RequestHeader", "ResponseHeader"):
        kind = EntityType.header
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower(), kind


def write(entity: Any) -> bytes:
    with BytesIO() as buffer:
        entity_writer(type(entity))(buffer, entity)
        return buffer.getvalue()


def read(kind: Any, data: bytes) -> Any:
    entity, size = entity_reader(kind)(data, 0)
    assert size == len(data)
    return entity


def to_kio(message: Message, kind: Any, version: int) -> Any:
    """The entity that equals a message, which may change to have one."""
    return _entity(message, kind, version)


def _entity(ours: Struct, kind: Any, version: int) -> Any:
    present = [field for field in fields_of(type(ours)) if version in field.options.versions]
    values = {}
    for field, theirs in zip(present, dataclasses.fields(kind), strict=True):
        # kio leaves out the unit of a duration, and has other ideas of what a word is.
        assert squash(field.name).startswith(squash(theirs.name))
        bent, values[theirs.name] = _convert(getattr(ours, field.name), field, theirs, version)
        setattr(ours, field.name, bent)
    return kind(**values)


def _convert(
    value: Any, field: Field, theirs: "dataclasses.Field[Any]", version: int
) -> tuple[Any, Any]:
    if isinstance(field.type, Nested) and value is None and not field.is_nullable(version):
        return None, _entity(field.type.struct(), _inner_type(theirs.type), version)
    if value is None:
        return None, None
    if isinstance(field.type, Nested):
        return value, _entity(value, _inner_type(theirs.type), version)
    if isinstance(field.type, Array) and isinstance(field.type.element, Nested):
        inner = _inner_type(theirs.type)
        return value, tuple(_entity(item, inner, version) for item in value)
    convert = _CONVERSIONS.get(theirs.metadata["kafka_type"], _same)
    if convert is _time and type(None) not in typing.get_args(theirs.type):
        value = max(0, value)
    if isinstance(field.type, Array):
        pairs = [convert(item) for item in value]
        return [ours for ours, _ in pairs], tuple(item for _, item in pairs)
    return convert(value)


def _inner_type(annotation: Any) -> Any:
    """The entity in `X`, `X | None`, `tuple[X, ...]` or `tuple[X, ...] | None`."""
    while typing.get_origin(annotation) in (tuple, UnionType):
        (annotation,) = set(typing.get_args(annotation)) - {type(None), ...}
    return annotation


def _same(value: Any) -> tuple[Any, Any]:
    return value, value


def _error_code(value: int) -> tuple[int, Any]:
    code = ERROR_CODES[value % len(ERROR_CODES)]
    return code, ErrorCode(code)


def _uuid(value: bytes) -> tuple[bytes, Any]:
    return value, UUID(bytes=value) if any(value) else None


def _duration(value: int) -> tuple[int, timedelta]:
    """Not longer than a century, which a float of seconds represents to the millisecond."""
    value = max(-(2**41), min(value, 2**41))
    return value, timedelta(milliseconds=value)


def _time(value: int) -> tuple[int, datetime | None]:
    """Whole seconds since 1970; -1 where there is no time."""
    if value < 0:
        return -1, None
    value = value % 2**41 // 1000 * 1000
    return value, datetime.fromtimestamp(value // 1000, UTC)


_CONVERSIONS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "datetime_i64": _time,
    "error_code": _error_code,
    "timedelta_i32": _duration,
    "timedelta_i64": _duration,
    "uuid": _uuid,
}
