"""The columns of Spark's Kafka source, and the choice of columns to read.

By default all columns are read and all are nullable, as in Spark's own source. Spark does not pass
a query's columns to Python sources, so a user can give a schema instead: only its columns are
decoded. Columns that every record has can be NOT NULL in it, which saves Spark a check per value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.pipeline.reading.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

# Spark's simple type names.
_TYPES: Final = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
}
_HEADERS: Final = "headers"
_HEADERS_TYPE: Final = "array<struct<key:string,value:binary>>"
# The columns that may be null.
_OPTIONAL: Final = ("key", "value", _HEADERS)


class SourceColumn(NamedTuple):
    """A column to read, and whether it is nullable in Spark's schema."""

    name: str
    is_nullable: bool


def to_ddl(*, include_headers: bool) -> str:
    """All columns, as a schema in Spark's DDL."""
    return ", ".join(f"{name} {kind}" for name, kind in _types(include_headers).items())


def choose(schema: StructType, *, include_headers: bool) -> tuple[SourceColumn, ...]:
    """The columns of a schema. Raises OptionError for a column with a wrong name or type."""
    known = _types(include_headers)
    for field in schema:
        name, kind = field.name, field.dataType.simpleString()
        if name not in known:
            hint = "; set includeHeaders to true" if name == _HEADERS else ""
            raise OptionError(
                f"the schema has a column {name}, but records have only {', '.join(known)}{hint}"
            )
        if kind != known[name]:
            raise OptionError(
                f"the schema has {name} as {kind}, but it is {known[name]}: declare it as that "
                "and cast it"
            )
        if name in _OPTIONAL and not field.nullable:
            raise OptionError(
                f"the schema has {name} as NOT NULL, but a record may have none: remove NOT NULL"
            )
    return tuple(SourceColumn(field.name, field.nullable) for field in schema)


def _types(include_headers: bool) -> dict[str, str]:
    return _TYPES | {_HEADERS: _HEADERS_TYPE} if include_headers else _TYPES
