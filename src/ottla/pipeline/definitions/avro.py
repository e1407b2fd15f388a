"""Plain Avro: a value is one Avro record without a header; writer and reader share the schema.

Spark's own Avro support is a jar that its Python package lacks. Here the package fastavro decodes
and encodes in Spark's Python workers, a column at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ottla.pipeline.definitions.avro_schema import parse_record, spark_type
from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.formats import Format

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_PARSED: Final = "_parsed"


@dataclass(frozen=True, slots=True)
class Avro(Format):
    """One Avro record, with this schema as JSON for reading and writing, and no header."""

    schema: str

    def parse(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f
        from pyspark.sql.types import StringType, StructField, StructType

        from ottla.pipeline.definitions.avro_columns import by_column, decoding

        record = parse_record(self.schema)
        both = StructType(
            [StructField("fields", spark_type(record)), StructField("reason", StringType())]
        )
        decode = by_column(decoding(record, both), both)
        parsed = frame.withColumn(_PARSED, decode(f.col("value")))
        return parsed.withColumns(
            {name: f.col(_PARSED)[name] for name in ("fields", "reason")}
        ).drop(_PARSED)

    def render(self, frame: DataFrame) -> Column:
        from pyspark.sql import functions as f
        from pyspark.sql.types import BinaryType

        from ottla.pipeline.definitions.avro_columns import by_column, encoding

        record = parse_record(self.schema)
        for field in record["fields"]:
            if field["name"] not in frame.columns and "default" not in field:
                raise DefinitionError(
                    f"Avro writes {record['name']}, which has the field {field['name']}, but the "
                    f"rows have only {', '.join(frame.columns)}"
                )
        encode = by_column(encoding(record), BinaryType())
        return encode(f.struct(*frame.columns))
