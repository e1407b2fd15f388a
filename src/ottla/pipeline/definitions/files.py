"""Directories of files. Spark writes them exactly once, by means of a log beside the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ottla.pipeline.definitions.connector import Sink, Source, Surroundings
from ottla.pipeline.definitions.errors import DefinitionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_FORMATS: Final = ("json", "csv", "parquet", "text")


@dataclass(frozen=True, slots=True)
class Files(Source, Sink):
    """A directory of files. As a source it is a stream of the files that appear in it; with
    `is_static` a table of those that are there."""

    path: str
    format: str = "parquet"
    schema: str | None = None
    is_static: bool = False
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.format not in _FORMATS:
            raise DefinitionError(
                f"Files has the unknown format {self.format!r}; use one of {', '.join(_FORMATS)}"
            )

    @property
    def place(self) -> str:
        return f"{self.format} files in {self.path}"

    def load(self, spark: SparkSession, around: Surroundings) -> DataFrame:  # noqa: ARG002
        # The two classes have the same methods but no common base.
        reader = spark.read if self.is_static else spark.readStream
        if self.schema is not None:
            reader = reader.schema(self.schema)
        elif not self.is_static and self.format != "text":
            raise DefinitionError(f"{self.place} need a schema to be read; add schema=...")
        return reader.format(self.format).options(**self.options).load(self.path)

    def write(self, frame: DataFrame, query: str, around: Surroundings) -> DataStreamWriter:  # noqa: ARG002
        writer = frame.writeStream.format(self.format).options(**self.options)
        return writer.option("path", self.path)
