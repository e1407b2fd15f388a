"""The columns of Spark's Kafka source, and which of them are read.

All of them are, and all of them may be null, as Spark's own source has it. Spark does not tell a
source that is written in Python which columns a query uses, so whoever reads may say it with a
schema: only the columns in it are decoded and given to Spark, and those that no record lacks can be
NOT NULL in it, which saves Spark a look at every value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.pipeline.reading.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

# As Spark writes their types.
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
# What a record may be without.
_OPTIONAL: Final = ("key", "value", _HEADERS)


class SourceColumn(NamedTuple):
    """One that is read, and whether Spark takes it for one that may be null."""

    name: str
    is_nullable: bool


def to_ddl(*, include_headers: bool) -> str:
    """All columns, as Spark writes a schema."""
    return ", ".join(f"{name} {kind}" for name, kind in _types(include_headers).items())


def choose(schema: StructType, *, include_headers: bool) -> tuple[SourceColumn, ...]:
    """The columns of a schema. Raises OptionError for what cannot be read as it says."""
    known = _types(include_headers)
    for field in schema:
        name, kind = field.name, field.dataType.simpleString()
        if name not in known:
            hint = "; set includeHeaders to true" if name == _HEADERS else ""
            raise OptionError(
                f"the schema has a column {name}, and records have {', '.join(known)}{hint}"
            )
        if kind != known[name]:
            raise OptionError(
                f"the schema has {name} as {kind}, and it is {known[name]}: "
                "read it as that and cast it"
            )
        if name in _OPTIONAL and not field.nullable:
            raise OptionError(f"the schema has {name} as NOT NULL, and a record may be without one")
    return tuple(SourceColumn(field.name, field.nullable) for field in schema)


def _types(include_headers: bool) -> dict[str, str]:
    return _TYPES | {_HEADERS: _HEADERS_TYPE} if include_headers else _TYPES
