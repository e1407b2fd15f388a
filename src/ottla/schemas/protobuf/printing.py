"""Writes a file's descriptor as the source that registries store: no comments, one layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

from ottla.schemas.protobuf.options import OptionWriter, quoted
from ottla.schemas.protobuf.symbols import ProtobufSymbols

_SCALARS: Final = {value: name.removeprefix("TYPE_").lower() for name, value in Field.Type.items()}
_RANGE_MAX: Final = 536870912
_ENUM_MAX: Final = 2147483647


class ProtobufPrinter:
    """`is_normal`: full names of types, fields and constants in the order of their numbers."""

    def __init__(
        self, file: Any, symbols: ProtobufSymbols, options: OptionWriter, *, is_normal: bool
    ) -> None:
        self._file = file
        self._symbols = symbols
        self._options = options
        self._is_normal = is_normal
        self._is_proto3 = file.syntax == "proto3"
        self._has_labels = not self._is_proto3 and not file.edition

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        file = self._file
        if file.edition:
            yield f'edition = "{_edition(file.edition)}";'
        elif not (self._is_normal and not self._is_proto3):
            yield f'syntax = "{file.syntax or "proto2"}";'
        if file.package:
            yield f"package {file.package};"
        sections = [self._imports(), self._options.statements(file.options)]
        types = [line for each in file.message_type for line in self._message(each, file.package)]
        types += [line for each in file.enum_type for line in self._enum(each)]
        sections += [types, self._extensions(file.extension, file.package)]
        sections += [[line for each in file.service for line in self._service(each)]]
        for section in sections:
            if section:
                yield ""
                yield from section

    def _imports(self) -> list[str]:
        public = set(self._file.public_dependency)
        names = list(enumerate(self._file.dependency))
        if self._is_normal:
            names.sort(key=lambda each: each[1])
        plain = [f'import "{name}";' for index, name in names if index not in public]
        return plain + [f'import public "{name}";' for index, name in names if index in public]

    # ---- messages

    def _message(self, message: Any, scope: str) -> Iterator[str]:
        inner = f"{scope}.{message.name}" if scope else message.name
        yield f"message {message.name} {{"
        yield from _sections(self._message_sections(message, inner))
        yield "}"

    def _message_sections(self, message: Any, inner: str) -> Iterable[list[str]]:
        yield self._reserved(message, is_enum=False)
        yield self._options.statements(message.options)
        fields = [each for each in message.field if not _is_in_oneof(each)]
        yield [line for each in self._ordered(fields) for line in self._field(each, inner, message)]
        yield self._oneofs(message, inner)
        ranges = [
            f"extensions {_range(each.start, each.end - 1)};" for each in message.extension_range
        ]
        yield ranges
        yield self._extensions(message.extension, inner)
        skipped = {
            each.type_name.rpartition(".")[2]
            for each in message.field
            if each.type == Field.TYPE_GROUP
        }
        nested = [
            line
            for each in message.nested_type
            if not each.options.map_entry and each.name not in skipped
            for line in self._message(each, inner)
        ]
        yield nested + [line for each in message.enum_type for line in self._enum(each)]

    def _oneofs(self, message: Any, inner: str) -> list[str]:
        lines = []
        for index, oneof in enumerate(message.oneof_decl):
            members = [
                each for each in message.field if _is_in_oneof(each) and each.oneof_index == index
            ]
            if not members:
                continue
            lines.append(f"oneof {oneof.name} {{")
            lines += [f"  {line}" for line in self._options.statements(oneof.options)]
            lines += [
                f"  {line}"
                for each in self._ordered(members)
                for line in self._field(each, inner, message, is_labelled=False)
            ]
            lines.append("}")
        return lines

    def _field(
        self, field: Any, scope: str, message: Any, *, is_labelled: bool = True
    ) -> Iterator[str]:
        label = self._label(field) if is_labelled else ""
        entry = _map_entry(field, message)
        if entry is not None:
            key, value = (self._type(each, scope) for each in entry.field)
            label, type_ = "", f"map<{key}, {value}>"
        elif field.type == Field.TYPE_GROUP:
            yield from self._group(field, scope, message, label)
            return
        else:
            type_ = self._type(field, scope)
        options = self._field_options(field)
        head = f"{label}{type_} {field.name} = {field.number}"
        if len(options) > 1:
            yield f"{head} ["
            yield from (f"  {each}," for each in options[:-1])
            yield f"  {options[-1]}"
            yield "];"
        else:
            yield f"{head} [{options[0]}];" if options else f"{head};"

    def _group(self, field: Any, scope: str, message: Any, label: str) -> Iterator[str]:
        name = field.type_name.rpartition(".")[2]
        body = next((each for each in message.nested_type if each.name == name), None)
        yield f"{label}group {name} = {field.number} {{"
        if body is not None:
            yield from _sections(self._message_sections(body, f"{scope}.{name}"))
        yield "}"

    def _label(self, field: Any) -> str:
        if field.label == Field.LABEL_REPEATED:
            return "repeated "
        if field.proto3_optional:
            return "optional "
        if not self._has_labels:
            return ""
        return "required " if field.label == Field.LABEL_REQUIRED else "optional "

    def _type(self, field: Any, scope: str) -> str:
        if field.type_name:
            if self._is_normal:
                return str(field.type_name)
            return self._symbols.shortened(field.type_name, scope=scope, package=self._file.package)
        return str(_SCALARS[field.type])

    def _field_options(self, field: Any) -> list[str]:
        options = []
        if field.HasField("default_value"):
            value = field.default_value
            if field.type in (Field.TYPE_STRING, Field.TYPE_BYTES):
                value = quoted(value)
            options.append(f"default = {value}")
        if field.HasField("json_name") and field.json_name != _json_name(field.name):
            options.append(f"json_name = {quoted(field.json_name)}")
        return options + self._options.inline(field.options)

    # ---- the rest

    def _enum(self, enum: Any) -> Iterator[str]:
        yield f"enum {enum.name} {{"
        values = (
            sorted(enum.value, key=lambda each: (each.number, each.name))
            if self._is_normal
            else enum.value
        )
        constants = self._options.statements(enum.options)
        for value in values:
            options = self._options.inline(value.options)
            suffix = f" [{', '.join(options)}]" if options else ""
            constants.append(f"{value.name} = {value.number}{suffix};")
        reserved = self._reserved(enum, is_enum=True)
        yield from (f"  {line}" for line in (*reserved, *constants))
        yield "}"

    def _reserved(self, parent: Any, *, is_enum: bool) -> list[str]:
        ranges = [
            _range(each.start, each.end if is_enum else each.end - 1)
            for each in parent.reserved_range
        ]
        lines = []
        if ranges:
            lines += (
                [f"reserved {each};" for each in ranges]
                if self._is_normal
                else [f"reserved {', '.join(ranges)};"]
            )
        if parent.reserved_name:
            lines.append(f"reserved {', '.join(map(quoted, parent.reserved_name))};")
        return lines

    def _extensions(self, extensions: Any, scope: str) -> list[str]:
        lines = []
        by_extendee: dict[str, list[Any]] = {}
        for each in extensions:
            by_extendee.setdefault(each.extendee, []).append(each)
        for extendee, fields in by_extendee.items():
            name = self._symbols.shortened(extendee, scope=scope, package=self._file.package)
            lines.append(f"extend {name} {{")
            lines += [
                f"  {line}" for each in fields for line in self._field(each, scope, self._file)
            ]
            lines.append("}")
        return lines

    def _service(self, service: Any) -> Iterator[str]:
        yield f"service {service.name} {{"
        yield from (f"  {line}" for line in self._options.statements(service.options))
        for method in service.method:
            streams = (
                "stream " if each else ""
                for each in (method.client_streaming, method.server_streaming)
            )
            types = (
                self._symbols.shortened(each, scope=self._file.package, package=self._file.package)
                for each in (method.input_type, method.output_type)
            )
            request, response = (stream + name for stream, name in zip(streams, types, strict=True))
            options = self._options.statements(method.options)
            yield f"  rpc {method.name} ({request}) returns ({response})" + (
                " {" if options else ";"
            )
            if options:
                yield from (f"    {line}" for line in options)
                yield "  };"
        yield "}"

    def _ordered(self, fields: list[Any]) -> list[Any]:
        return sorted(fields, key=lambda each: each.number) if self._is_normal else fields


def _sections(sections: Iterable[list[str]]) -> Iterator[str]:
    is_first = True
    for section in sections:
        if section:
            if not is_first:
                yield ""
            is_first = False
            yield from (f"  {line}" if line else "" for line in section)


def _is_in_oneof(field: Any) -> bool:
    return field.HasField("oneof_index") and not field.proto3_optional


def _map_entry(field: Any, message: Any) -> Any:
    if field.type != Field.TYPE_MESSAGE or not hasattr(message, "nested_type"):
        return None
    name = field.type_name.rpartition(".")[2]
    for nested in message.nested_type:
        if nested.name == name and nested.options.map_entry:
            return nested
    return None


def _range(start: int, end: int) -> str:
    if start == end:
        return str(start)
    return f"{start} to max" if end >= _RANGE_MAX - 1 or end == _ENUM_MAX else f"{start} to {end}"


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(each[:1].upper() + each[1:] for each in rest)


def _edition(number: int) -> str:
    return str(number - 1000 + 2023) if number >= 1000 else str(number)
