"""Whether messages of one Protobuf file can be read with another one.

The rules and the names of the differences are those that Confluent documents for its registry.
Only differences that break compatibility are reported; the path is made of message names and field
numbers, because the numbers are what is on the wire.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

from ottla.schemas.difference import Difference
from ottla.schemas.protobuf.symbols import ProtobufSymbols

_KINDS: Final = {
    "number": (
        Field.TYPE_INT32,
        Field.TYPE_INT64,
        Field.TYPE_UINT32,
        Field.TYPE_UINT64,
        Field.TYPE_BOOL,
        Field.TYPE_ENUM,
    ),
    "signed number": (Field.TYPE_SINT32, Field.TYPE_SINT64),
    "string or bytes": (Field.TYPE_STRING, Field.TYPE_BYTES),
    "fixed32": (Field.TYPE_FIXED32, Field.TYPE_SFIXED32),
    "fixed64": (Field.TYPE_FIXED64, Field.TYPE_SFIXED64),
    "float": (Field.TYPE_FLOAT,),
    "double": (Field.TYPE_DOUBLE,),
}
_SCALAR_KIND: Final = {type_: kind for kind, types in _KINDS.items() for type_ in types}


class ProtobufComparison:
    """`earlier` are the symbols of the file with which messages were written."""

    def __init__(self, earlier: ProtobufSymbols, later: ProtobufSymbols) -> None:
        self._earlier = earlier
        self._later = later
        self._compared: set[tuple[str, str]] = set()
        self._found: list[Difference] = []

    def files(self, before: Any, after: Any) -> list[Difference]:
        if before.package != after.package:
            self._add(
                "PACKAGE_CHANGED",
                "#/",
                f"The package is {after.package!r} in the {{reader}} schema and "
                f"{before.package!r} in the {{writer}} schema",
            )
        self._messages(before.message_type, after.message_type, before, after, "#/")
        return self._found

    def _messages(self, before: Any, after: Any, old: Any, new: Any, path: str) -> None:
        updated = {each.name: each for each in after}
        for message in before:
            if message.options.map_entry:
                continue
            at = f"{path}{message.name}"
            if message.name not in updated:
                self._add(
                    "MESSAGE_REMOVED",
                    at,
                    f"The message at path '{at}' of the {{writer}} schema is missing in the "
                    "{reader} schema",
                )
            else:
                self._message(message, updated[message.name], old, new, at)

    def _message(self, before: Any, after: Any, old: Any, new: Any, path: str) -> None:
        pair = (f"{id(before)}", f"{id(after)}")
        if pair in self._compared:
            return
        self._compared.add(pair)
        old_fields = {each.number: each for each in before.field}
        new_fields = {each.number: each for each in after.field}
        self._oneofs(before, after, old_fields, new_fields, path)
        gone = _gone_oneofs(before, after, new_fields)
        for number in sorted(old_fields.keys() | new_fields.keys()):
            at = f"{path}/{number}"
            field, updated = old_fields.get(number), new_fields.get(number)
            if field is None:
                self._added(updated, at)
            elif updated is None:
                self._removed(field, before, gone, at)
            else:
                self._field(field, updated, before, after, old, new, at)
        self._messages(before.nested_type, after.nested_type, old, new, f"{path}/")

    # ---- fields

    def _added(self, field: Any, at: str) -> None:
        if field.label == Field.LABEL_REQUIRED:
            self._add(
                "REQUIRED_FIELD_ADDED",
                at,
                f"The required field at path '{at}' of the {{reader}} schema is missing in the "
                "{writer} schema",
            )

    def _removed(self, field: Any, message: Any, gone: set[str], at: str) -> None:
        oneof = _oneof_of(field, message)
        if oneof and oneof not in gone:
            self._add(
                "ONEOF_FIELD_REMOVED",
                at,
                f"The {{reader}} schema lacks the field at path '{at}', which is in the oneof "
                f"{oneof!r} of the {{writer}} schema",
            )
        elif not oneof and field.label == Field.LABEL_REQUIRED:
            self._add(
                "REQUIRED_FIELD_REMOVED",
                at,
                f"The required field at path '{at}' of the {{writer}} schema is missing in the "
                "{reader} schema",
            )

    def _field(
        self,
        before: Any,
        after: Any,
        old_message: Any,
        new_message: Any,
        old: Any,
        new: Any,
        at: str,
    ) -> None:
        old_entry, new_entry = _entry_of(before, old_message), _entry_of(after, new_message)
        old_kind = "map" if old_entry is not None else _kind(before)
        new_kind = "map" if new_entry is not None else _kind(after)
        if old_kind != new_kind:
            self._add(
                "FIELD_KIND_CHANGED",
                at,
                f"The field at path '{at}' is a {new_kind} in the {{reader}} schema and a "
                f"{old_kind} in the {{writer}} schema",
            )
        elif old_kind == "map":
            for key, updated in zip(old_entry.field, new_entry.field, strict=True):
                self._field(key, updated, old_entry, new_entry, old, new, at)
        elif old_kind == "message":
            self._named(before, after, at)
        else:
            self._scalar(before, after, old, new, at)

    def _scalar(self, before: Any, after: Any, old: Any, new: Any, at: str) -> None:
        old_kind, new_kind = _SCALAR_KIND[before.type], _SCALAR_KIND[after.type]
        labels = (_label(before, old), _label(after, new))
        if old_kind != new_kind:
            self._add(
                "FIELD_SCALAR_KIND_CHANGED",
                at,
                f"The field at path '{at}' has the kind {new_kind} in the {{reader}} schema and "
                f"{old_kind} in the {{writer}} schema",
            )
        elif all(labels) and labels[0] != labels[1] and old_kind != "string or bytes":
            self._add(
                "FIELD_NUMERIC_LABEL_CHANGED",
                at,
                f"The numeric field at path '{at}' is {labels[1]} in the {{reader}} schema and "
                f"{labels[0]} in the {{writer}} schema",
            )

    def _named(self, before: Any, after: Any, at: str) -> None:
        old, new = self._earlier.find(before.type_name), self._later.find(after.type_name)
        if old is None or new is None:
            same = before.type_name == after.type_name
        else:
            same = _local(before.type_name, old.package) == _local(after.type_name, new.package)
        if not same:
            self._add(
                "FIELD_NAMED_TYPE_CHANGED",
                at,
                f"The field at path '{at}' has the type {after.type_name.removeprefix('.')} in the "
                f"{{reader}} schema and {before.type_name.removeprefix('.')} in the {{writer}} "
                "schema",
            )
        elif old is not None and new is not None:
            self._message(old.descriptor, new.descriptor, old.file, new.file, at)

    # ---- oneofs

    def _oneofs(
        self,
        before: Any,
        after: Any,
        old_fields: dict[int, Any],
        new_fields: dict[int, Any],
        path: str,
    ) -> None:
        """Fields that become alternatives of each other: a message may have several of them."""
        for oneof in _oneof_names(after):
            origins = set()
            moved = 0
            for number, field in new_fields.items():
                if _oneof_of(field, after) != oneof or number not in old_fields:
                    continue
                origin = _oneof_of(old_fields[number], before)
                moved += not origin
                origins.add(f"oneof {origin}" if origin else f"field {number}")
            if len(origins) > 1:
                self._add(
                    "MULTIPLE_FIELDS_MOVED_TO_ONEOF"
                    if moved > 1
                    else "FIELD_MOVED_TO_EXISTING_ONEOF",
                    f"{path}/{oneof}",
                    f"The oneof at path '{path}/{oneof}' of the {{reader}} schema has several "
                    "fields that do not exclude each other in the {writer} schema",
                )

    def _add(self, kind: str, path: str, text: str) -> None:
        self._found.append(Difference(kind, path, text))


def _kind(field: Any) -> str:
    return "message" if field.type in (Field.TYPE_MESSAGE, Field.TYPE_GROUP) else "scalar"


def _label(field: Any, file: Any) -> str:
    """Empty for a field without a label, which only proto3 and editions have."""
    if field.label == Field.LABEL_REPEATED:
        return "repeated"
    if field.label == Field.LABEL_REQUIRED:
        return "required"
    has_labels = file.syntax != "proto3" and not file.edition
    return "optional" if has_labels or field.proto3_optional else ""


def _oneof_of(field: Any, message: Any) -> str:
    if not field.HasField("oneof_index") or field.proto3_optional:
        return ""
    return str(message.oneof_decl[field.oneof_index].name)


def _oneof_names(message: Any) -> list[str]:
    return list(dict.fromkeys(filter(None, (_oneof_of(each, message) for each in message.field))))


def _gone_oneofs(before: Any, after: Any, new_fields: dict[int, Any]) -> set[str]:
    """The oneofs of which no field is left."""
    kept = {_oneof_of(each, before) for each in before.field if each.number in new_fields}
    return set(_oneof_names(before)) - set(_oneof_names(after)) - kept


def _entry_of(field: Any, message: Any) -> Any:
    name = field.type_name.rpartition(".")[2]
    for nested in message.nested_type if field.type == Field.TYPE_MESSAGE else ():
        if nested.name == name and nested.options.map_entry:
            return nested
    return None


def _local(type_name: str, package: str) -> str:
    return type_name.removeprefix(".").removeprefix(f"{package}." if package else "")
