"""Options as source: the built-in ones, and custom ones as the files that define them say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import DESCRIPTOR, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from ottla.schemas.errors import InvalidSchemaError


def make_pool(files: Iterable[Any]) -> DescriptorPool:
    """Links the files. Raises InvalidSchemaError."""
    pool = DescriptorPool()
    own = FileDescriptorProto()
    DESCRIPTOR.CopyToProto(own)
    added = set()
    for file in (own, *files):
        if file.name not in added:
            added.add(file.name)
            try:
                pool.Add(file)
                pool.FindFileByName(file.name)
            except (TypeError, KeyError) as error:
                raise InvalidSchemaError(f"the schema is not valid Protobuf: {error}") from None
    return pool


class OptionWriter:
    def __init__(self, pool: DescriptorPool) -> None:
        self._pool = pool

    def statements(self, options: Any) -> list[str]:
        return [f"option {each};" for each in self.inline(options)]

    def inline(self, options: Any) -> list[str]:
        if not options.ListFields() and not options.ByteSize():
            return []
        known = self._pool.FindMessageTypeByName(options.DESCRIPTOR.full_name)
        parsed = message_factory.GetMessageClass(known).FromString(options.SerializeToString())
        return list(_options(parsed))


def _options(message: Any) -> Iterator[str]:
    for field, value in message.ListFields():
        if field.full_name == "google.protobuf.MessageOptions.map_entry":
            continue
        name = f"({field.full_name})" if field.is_extension else field.name
        values = value if field.is_repeated else [value]
        if field.is_repeated and _is_map(field):
            values = [_entry(field, key, value[key]) for key in value]
            yield from (f"{name} = {each}" for each in values)
            continue
        for each in values:
            yield f"{name} = {_written(field, each)}"


def _written(field: Any, value: Any) -> str:
    if field.type in (FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_GROUP):
        return _message(value)
    if field.type == FieldDescriptorProto.TYPE_ENUM:
        found = field.enum_type.values_by_number.get(value)
        return str(value) if found is None else str(found.name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, bytes)):
        return quoted(value if isinstance(value, str) else value.decode("latin-1"))
    return repr(value)


def _message(message: Any) -> str:
    parts = []
    for field, value in message.ListFields():
        name = f"[{field.full_name}]" if field.is_extension else field.name
        if field.is_repeated and _is_map(field):
            each = ", ".join(_entry(field, key, value[key]) for key in sorted(value))
            parts.append(f"{name}: [{each}]")
        elif field.is_repeated:
            parts.append(f"{name}: [{', '.join(_written(field, each) for each in value)}]")
        else:
            parts.append(f"{name}: {_written(field, value)}")
    return "{ " + ", ".join(parts) + " }" if parts else "{}"


def _is_map(field: Any) -> bool:
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


def _entry(field: Any, key: Any, value: Any) -> str:
    fields = field.message_type.fields_by_name
    return f"{{ key: {_written(fields['key'], key)}, value: {_written(fields['value'], value)} }}"


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
