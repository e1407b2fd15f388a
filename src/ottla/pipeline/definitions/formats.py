"""Formats: parse a record's value to columns, and render columns to a value.

Parsing adds two columns: the struct `fields`, and `reason`, which is null for a valid value. It
drops no rows: the source decides what to do with a value that has a reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from ottla.pipeline.definitions.errors import DefinitionError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_CORRUPT: Final = "_ottla_corrupt"


class Format(ABC):
    """Parses record values to columns, and renders columns to values."""

    @abstractmethod
    def parse(self, frame: DataFrame) -> DataFrame:
        """Adds the columns `fields` and `reason`, of which one is null, from the column `value`."""

    @abstractmethod
    def render(self, frame: DataFrame) -> Column:
        """Renders all columns to one value."""


@dataclass(frozen=True, slots=True)
class Json(Format):
    """A JSON object with these fields, as in "carrier string, delay double".

    A field that is NOT NULL must be there. Writing needs no schema.
    """

    schema: str = ""

    def parse(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        schema = _schema(self.schema, "Json")
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
        parsed = f.from_json(f.col("value").cast("string"), _lenient(schema), options)
        return _judged(frame.withColumn("_parsed", parsed), schema, f"JSON with {self.schema}")

    def render(self, frame: DataFrame) -> Column:
        from pyspark.sql import functions as f

        return f.to_json(f.struct(*frame.columns)).cast("binary")


@dataclass(frozen=True, slots=True)
class Csv(Format):
    """One line with these fields, in this order."""

    schema: str = ""
    separator: str = ","

    def parse(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        schema = _schema(self.schema, "Csv")
        options = {
            "mode": "PERMISSIVE",
            "columnNameOfCorruptRecord": _CORRUPT,
            "sep": self.separator,
        }
        # from_csv is the only such function of Spark that takes the schema only as text.
        ddl = ", ".join(
            f"`{each.name}` {each.dataType.simpleString()}" for each in _lenient(schema)
        )
        parsed = f.from_csv(f.col("value").cast("string"), ddl, options)
        return _judged(frame.withColumn("_parsed", parsed), schema, f"CSV with {self.schema}")

    def render(self, frame: DataFrame) -> Column:
        from pyspark.sql import functions as f

        return f.to_csv(f.struct(*frame.columns), {"sep": self.separator}).cast("binary")


@dataclass(frozen=True, slots=True)
class Text(Format):
    """UTF-8 text, in a column `text`."""

    def parse(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        text = f.struct(f.col("value").cast("string").alias("text"))
        good = f.expr("value IS NULL OR is_valid_utf8(CAST(value AS STRING))")
        return frame.withColumns({"fields": text, "reason": f.when(~good, f.lit("is not UTF-8"))})

    def render(self, frame: DataFrame) -> Column:
        return _only(frame, "Text").cast("string").cast("binary")


@dataclass(frozen=True, slots=True)
class Bytes(Format):
    """The value as it is, in a column `value`."""

    def parse(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        return frame.withColumns(
            {"fields": f.struct("value"), "reason": f.lit(None).cast("string")}
        )

    def render(self, frame: DataFrame) -> Column:
        return _only(frame, "Bytes").cast("binary")


def _schema(text: str, name: str) -> StructType:
    from pyspark.errors import ParseException
    from pyspark.sql.types import StructType

    if not text:
        raise DefinitionError(f'{name} reads with a schema: {name}("carrier string, delay double")')
    try:
        schema = StructType.fromDDL(text)
    except ParseException as error:
        reason = str(error).strip().partition("\n")[0]
        raise DefinitionError(f"{name} has the invalid schema {text!r}: {reason}") from None
    assert isinstance(schema, StructType)
    return schema


def _lenient(schema: StructType) -> StructType:
    """The schema with all fields nullable and a column for values that do not parse."""
    from pyspark.sql.types import StringType, StructField, StructType

    fields = [StructField(each.name, each.dataType) for each in schema]
    return StructType([*fields, StructField(_CORRUPT, StringType())])


def _judged(frame: DataFrame, schema: StructType, what: str) -> DataFrame:
    from pyspark.sql import functions as f

    parsed = f.col("_parsed")
    broken = parsed.isNull() | parsed[_CORRUPT].isNotNull()
    reason = f.when(f.col("value").isNull(), f.lit("is null"))
    reason = reason.when(broken, f.lit(f"is not {what}"))
    required = [each.name for each in schema if not each.nullable]
    reason = reduce(
        lambda so_far, name: so_far.when(parsed[name].isNull(), f.lit(f"has no {name}")),
        required,
        reason,
    )
    fields = f.struct(*(parsed[each.name].alias(each.name) for each in schema))
    return frame.withColumns({"fields": fields, "reason": reason}).drop("_parsed")


def _only(frame: DataFrame, name: str) -> Column:
    if len(frame.columns) != 1:
        raise DefinitionError(
            f"{name} writes one column, but the rows have {', '.join(frame.columns)}; select one"
        )
    return frame[frame.columns[0]]
