"""Protobuf by subject: messages of the registry's files, without generated code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.registered_subject import PROTOBUF, RegisteredSubject
from ottla.pipeline.definitions.subjects import SubjectFormat

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

# By the names of descriptor.py: CPPTYPE_...
_SIMPLE: Final = {
    "INT32": "Integer",
    "INT64": "Long",
    "UINT32": "Long",
    "DOUBLE": "Double",
    "FLOAT": "Float",
    "BOOL": "Boolean",
    "ENUM": "String",
    "STRING": "String",
}
_UINT64_DIGITS: Final = 20
_DEPTH_MAX: Final = 30


@dataclass(frozen=True, slots=True)
class Protobuf(SubjectFormat):
    """A message of the subject's file: the first one, unless `message` names another. Unsigned
    64-bit numbers become decimals, enums strings with their names, and Protobuf timestamps
    timestamps."""

    subject: str
    registry: str = ""
    message: str = ""

    @property
    def schema_type(self) -> str:
        return PROTOBUF

    def columns(self, subject: RegisteredSubject) -> StructType:
        from ottla.pipeline.definitions.protobuf_columns import descriptor_of

        return _struct(descriptor_of(subject.schemas, self.message), 0)


def _struct(descriptor: Any, depth: int) -> StructType:
    from pyspark.sql.types import StructField, StructType

    if depth > _DEPTH_MAX:
        raise DefinitionError(f"the message {descriptor.full_name} is recursive")
    return StructType([StructField(each.name, _type(each, depth)) for each in descriptor.fields])


def _type(field: Any, depth: int) -> DataType:
    from pyspark.sql.types import ArrayType, MapType

    from ottla.pipeline.definitions.protobuf_columns import is_map, is_repeated

    if is_map(field):
        by_name = field.message_type.fields_by_name
        return MapType(_single(by_name["key"], depth), _single(by_name["value"], depth))
    found = _single(field, depth)
    return ArrayType(found) if is_repeated(field) else found


def _single(field: Any, depth: int) -> DataType:
    from pyspark.sql import types

    from ottla.pipeline.definitions.protobuf_columns import TIMESTAMP, cpp_name

    if field.message_type is not None:
        if field.message_type.full_name == TIMESTAMP:
            return types.TimestampType()
        return _struct(field.message_type, depth + 1)
    name = cpp_name(field)
    if name == "UINT64":
        return types.DecimalType(_UINT64_DIGITS, 0)
    if field.type == field.TYPE_BYTES:
        return types.BinaryType()
    found: DataType = getattr(types, f"{_SIMPLE[name]}Type")()
    return found
