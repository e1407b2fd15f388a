"""Converts Avro schemas to Spark types.

A union of null and another type becomes a nullable column. Other unions, times of day and recursive
records have no matching type in Spark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ottla.pipeline.definitions.errors import DefinitionError, MissingPackageError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

Schema: TypeAlias = dict[str, Any]

# Avro's types to the names of Spark's type classes, without the suffix "Type".
_PRIMITIVES: Final = {
    "boolean": "Boolean",
    "bytes": "Binary",
    "double": "Double",
    "enum": "String",
    "fixed": "Binary",
    "float": "Float",
    "int": "Integer",
    "long": "Long",
    "string": "String",
}
_LOGICAL: Final = {
    "date": "Date",
    "local-timestamp-micros": "TimestampNTZ",
    "local-timestamp-millis": "TimestampNTZ",
    "timestamp-micros": "Timestamp",
    "timestamp-millis": "Timestamp",
}
_NAMED: Final = ("enum", "fixed", "record")


def parse_record(text: str) -> Schema:
    """Raises DefinitionError if the text is not the schema of a record."""
    try:
        from fastavro import parse_schema
        from fastavro.schema import SchemaParseException, UnknownType
    except ImportError:
        raise MissingPackageError(
            "Avro is read and written with the package fastavro, which is not installed; install "
            "it with: pip install 'ottla[avro]'"
        ) from None
    try:
        parsed = parse_schema(json.loads(text))
    except (ValueError, KeyError, SchemaParseException, UnknownType) as error:
        raise DefinitionError(f"Avro has an invalid schema: {error!r}") from None
    if not isinstance(parsed, dict) or parsed.get("type") != "record":
        raise DefinitionError("Avro has a schema that is not a record; wrap the type in a record")
    return parsed


def spark_type(record: Schema) -> StructType:
    """Raises DefinitionError for an Avro type that Spark does not have."""
    from pyspark.sql.types import StructType

    found = _type(record, {})
    assert isinstance(found, StructType)
    return found


def _type(schema: Any, named: Mapping[str, Any]) -> DataType:
    from pyspark.sql.types import ArrayType, MapType, StringType, StructField, StructType

    if isinstance(schema, list):
        return _type(_the_other(schema), named)
    if isinstance(schema, str):
        schema = {"type": schema} if schema in _PRIMITIVES else named.get(schema, {"type": schema})
    kind = schema["type"]
    if isinstance(kind, (dict, list)):
        return _type(kind, named)
    if kind == "record":
        fields = []
        # A field may refer by name to a type that an earlier field defines.
        known = {**named, schema["name"]: {"type": f"the recursive record {schema['name']}"}}
        for field in schema["fields"]:
            fields.append(StructField(field["name"], _type(field["type"], known)))
            known |= _names(field["type"])
        return StructType(fields)
    if kind == "array":
        return ArrayType(_type(schema["items"], named))
    if kind == "map":
        return MapType(StringType(), _type(schema["values"], named))
    return _simple(kind, schema)


def _simple(kind: str, schema: Schema) -> DataType:
    from pyspark.sql import types

    logical = schema.get("logicalType")
    if logical == "decimal":
        return types.DecimalType(schema["precision"], schema.get("scale", 0))
    name = _LOGICAL.get(logical or "") or (None if logical else _PRIMITIVES.get(kind))
    if name is None:
        raise DefinitionError(
            f"Avro has a field of type {logical or kind}, which Spark does not support"
        )
    found: DataType = getattr(types, f"{name}Type")()
    return found


def _the_other(union: list[Any]) -> Any:
    others = [each for each in union if each != "null"]
    if len(others) != 1:
        raise DefinitionError(
            f"Avro has a union of {len(others)} types besides null; Spark supports unions "
            "of null and one type"
        )
    return others[0]


def _names(schema: Any) -> dict[str, Any]:
    """The named types that a schema defines; later fields may refer to them."""
    if isinstance(schema, list):
        return {name: found for each in schema for name, found in _names(each).items()}
    if not isinstance(schema, dict):
        return {}
    found = {schema["name"]: schema} if schema["type"] in _NAMED else {}
    inner = [schema.get("items"), schema.get("values")]
    inner += [field["type"] for field in schema.get("fields", ())]
    return found | _names([each for each in inner if each is not None])
