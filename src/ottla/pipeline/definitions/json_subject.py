"""JSON Schema by subject: the columns of a schema, and values checked against it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.registered_subject import JSON, RegisteredSubject
from ottla.pipeline.definitions.subjects import SubjectFormat

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_SIMPLE: Final = {"string": "String", "integer": "Long", "number": "Double", "boolean": "Boolean"}


@dataclass(frozen=True, slots=True)
class JsonSchema(SubjectFormat):
    """An object of the subject's JSON Schema. A property without a type in Spark, such as an object
    without properties or a choice of several types, becomes a string column with its JSON."""

    subject: str
    registry: str = ""

    @property
    def schema_type(self) -> str:
        return JSON

    def columns(self, subject: RegisteredSubject) -> StructType:
        from pyspark.sql.types import StructType

        found = _type(json.loads(subject.schemas.schema.text))
        if not isinstance(found, StructType):
            raise DefinitionError(f"the subject {self.subject} has a schema without properties")
        return found


def _type(schema: Any) -> DataType:
    from pyspark.sql import types

    from ottla.pipeline.definitions.json_columns import kind_of

    kind = kind_of(schema) if isinstance(schema, dict) else None
    if kind in _SIMPLE:
        found: DataType = getattr(types, f"{_SIMPLE[kind]}Type")()
        return found
    if kind == "array" and isinstance(schema.get("items"), dict):
        return types.ArrayType(_type(schema["items"]))
    if kind == "object" and schema.get("properties"):
        fields = schema["properties"].items()
        return types.StructType([types.StructField(name, _type(each)) for name, each in fields])
    return types.StringType()
