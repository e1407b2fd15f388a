"""Formats by subject of a schema registry: a value is a zero, the id of a schema in four bytes, and
the data.

The columns are those of the subject's latest version when the query starts. Values are read with
the schema that their id names, and turned into these columns: by Avro's rules of resolution, for
JSON and Protobuf by the names of fields. Rows are written with the latest version as well.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import TYPE_CHECKING, Final

from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.formats import Format
from ottla.pipeline.definitions.registered_subject import RegisteredSubject, fetch, latest_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

DEFAULT_REGISTRY: Final = "http://127.0.0.1:8081"
_VARIABLE: Final = "OTTLA_SCHEMA_REGISTRY"
_PARSED: Final = "_parsed"


class SubjectFormat(Format):
    """The base of formats by subject. `registry` is a URL, which may contain a user and a password;
    by default that of OTTLA_SCHEMA_REGISTRY, or a local one."""

    subject: str
    registry: str

    @property
    @abstractmethod
    def schema_type(self) -> str:
        """As the registry calls it."""

    @abstractmethod
    def columns(self, subject: RegisteredSubject) -> StructType:
        """The columns of the schema. Raises DefinitionError for types that Spark does not have."""

    def latest(self) -> RegisteredSubject:
        """Asks the registry. Raises DefinitionError."""
        url = self.registry or os.environ.get(_VARIABLE, DEFAULT_REGISTRY)
        found = fetch(url, latest_of(self.subject, url), what=f"the subject {self.subject}")
        if found.schema.type != self.schema_type:
            raise DefinitionError(
                f"the subject {self.subject} has schemas of the type {found.schema.type}, not "
                f"{self.schema_type}; use the format of that type"
            )
        return RegisteredSubject(url, self.subject, found)

    def parse(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f
        from pyspark.sql.types import StringType, StructField, StructType

        from ottla.pipeline.definitions.avro_columns import by_column
        from ottla.pipeline.definitions.subject_columns import decoding

        subject = self.latest()
        fields = self.columns(subject)
        both = StructType([StructField("fields", fields), StructField("reason", StringType())])
        parsed = frame.withColumn(
            _PARSED, by_column(decoding(subject, fields), both)(f.col("value"))
        )
        return parsed.withColumns(
            {name: f.col(_PARSED)[name] for name in ("fields", "reason")}
        ).drop(_PARSED)

    def render(self, frame: DataFrame) -> Column:
        from pyspark.sql import functions as f
        from pyspark.sql.types import BinaryType

        from ottla.pipeline.definitions.avro_columns import by_column
        from ottla.pipeline.definitions.subject_columns import encoding

        subject = self.latest()
        known = [each.name for each in self.columns(subject)]
        if unknown := [each for each in frame.columns if each not in known]:
            raise DefinitionError(
                f"the subject {self.subject} has no field {', '.join(unknown)}; it has "
                f"{', '.join(known)}"
            )
        self.check_rows(subject, frame)
        return by_column(encoding(subject), BinaryType())(f.struct(*frame.columns))

    def check_rows(self, subject: RegisteredSubject, frame: DataFrame) -> None:
        """Raises DefinitionError if the rows lack something that the schema requires."""
