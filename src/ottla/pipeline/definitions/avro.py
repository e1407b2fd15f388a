"""Avro: with a schema, a value is one record without a header, and writer and reader share the
schema; with a subject, the registry has the schemas.

Spark's own Avro support is a jar that its Python package lacks. Here the package fastavro decodes
and encodes in Spark's Python workers, a column at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ottla.client.errors import SerializationError
from ottla.pipeline.definitions.avro_schema import Schema, parse_record, spark_type
from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.registered_subject import AVRO, RegisteredSubject
from ottla.pipeline.definitions.subjects import SubjectFormat

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_PARSED: Final = "_parsed"


@dataclass(frozen=True, slots=True)
class Avro(SubjectFormat):
    """One Avro record: without a header, if a schema (as JSON) is given for reading and writing; or
    with the id of its schema in front, if a `subject` of the schema `registry` is given."""

    schema: str = ""
    subject: str = ""
    registry: str = ""

    def __post_init__(self) -> None:
        if bool(self.schema) == bool(self.subject):
            raise DefinitionError(
                'Avro has either a schema or a subject: Avro(\'{"type": "record", ...}\') or '
                'Avro(subject="flights-value")'
            )

    @property
    def schema_type(self) -> str:
        return AVRO

    def columns(self, subject: RegisteredSubject) -> StructType:
        from ottla.pipeline.definitions.avro_subject import parsed

        try:
            return spark_type(parsed(subject.schemas))
        except ImportError:
            parse_record("")
            raise
        except SerializationError as error:
            raise DefinitionError(f"the subject {self.subject}: {error}") from None

    def check_rows(self, subject: RegisteredSubject, frame: DataFrame) -> None:
        from ottla.pipeline.definitions.avro_subject import parsed

        self._require_fields(parsed(subject.schemas), frame)

    def parse(self, frame: DataFrame) -> DataFrame:
        if self.subject:
            return SubjectFormat.parse(self, frame)
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
        if self.subject:
            return SubjectFormat.render(self, frame)
        from pyspark.sql import functions as f
        from pyspark.sql.types import BinaryType

        from ottla.pipeline.definitions.avro_columns import by_column, encoding

        record = parse_record(self.schema)
        self._require_fields(record, frame)
        encode = by_column(encoding(record), BinaryType())
        return encode(f.struct(*frame.columns))

    def _require_fields(self, record: Schema, frame: DataFrame) -> None:
        for field in record["fields"]:
            if field["name"] not in frame.columns and "default" not in field:
                raise DefinitionError(
                    f"Avro writes {record['name']}, which has the field {field['name']}, but the "
                    f"rows have only {', '.join(frame.columns)}"
                )
