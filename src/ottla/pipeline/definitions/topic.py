"""Topics, as streams and as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ottla.pipeline.definitions.change_column import CHANGE, CHANGE_FIELDS
from ottla.pipeline.definitions.connector import (
    Rejected,
    Sink,
    Source,
    Surroundings,
    Turn,
    batch_writer,
)
from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.formats import Bytes, Format
from ottla.tracing.trace_context import TRACE_PARENT, TRACE_STATE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

READ_FORMAT: Final = "ottla"
WRITE_FORMAT: Final = "ottla"
# A column of every row read from a topic, in addition to the fields of its value.
MESSAGE: Final = "message"
_MESSAGE_COLUMNS: Final = ("key", "topic", "partition", "offset", "timestamp")
# The columns that are read.
_SCHEMA: Final = (
    "key binary, value binary, topic string NOT NULL, partition int NOT NULL, "
    "offset bigint NOT NULL, timestamp timestamp NOT NULL"
)
# Beside these, with `traces`.
_HEADERS: Final = "headers array<struct<key:string,value:binary>>"
_TRACE: Final = "trace"


@dataclass(frozen=True, slots=True)
class Topic(Source, Sink):
    """A topic as a stream. Rows have the columns of the format, and `message`: key, topic,
    partition, offset and timestamp, which sinks do not write.

    A value that does not parse stops the query or, with `rejected_to`, goes to that topic with the
    reason and its position in headers. `options` are those of `format("ottla")`.

    With `deleted_when`, an SQL condition, rows for which it is true are written as tombstones: the
    key without a value, which deletes the key from a compacted topic.

    With `traces`, `message.trace` has the trace headers of the record (W3C Trace Context). If rows
    with `message` are written to a topic, their records get these headers.
    """

    name: str
    format: Format = field(default_factory=Bytes)
    key: str | None = None
    rejected_to: str | None = None
    start: str = "earliest"
    options: Mapping[str, str] = field(default_factory=dict)
    traces: bool = False
    deleted_when: str | None = None

    def __post_init__(self) -> None:
        if self.deleted_when is not None and self.key is None:
            raise DefinitionError(f"{self.place} has deleted_when and needs a key as well")

    @property
    def place(self) -> str:
        return f"topic {self.name}"

    @property
    def topics(self) -> tuple[str, ...]:
        return (self.name,) if self.rejected_to is None else (self.name, self.rejected_to)

    def load(self, spark: SparkSession, around: Surroundings) -> DataFrame:
        from pyspark.sql import functions as f

        parsed = self._parsed(spark, around)
        if self.rejected_to is not None:
            return _columns(parsed.where("reason IS NULL"), traces=self.traces)
        # The check is part of the column's expression: no query can use the fields without it.
        checked = f.when(f.col("reason").isNull(), f.col("fields")).otherwise(
            f.raise_error(f.concat(_place(), f.lit(" "), f.col("reason")))
        )
        return _columns(parsed.withColumn("fields", checked), traces=self.traces)

    def rejected(self, spark: SparkSession, around: Surroundings) -> Rejected | None:
        if self.rejected_to is None:
            return None
        bad = self._parsed(spark, around).where("reason IS NOT NULL")
        return Rejected(bad, RejectedTopic(self.rejected_to))

    def _parsed(self, spark: SparkSession, around: Surroundings) -> DataFrame:
        reader = spark.readStream.format(READ_FORMAT).options(**around.client_options)
        reader = reader.option("subscribe", self.name).option("startingOffsets", self.start)
        reader = reader.option("kafka.group.id", around.group_id).options(**self.options)
        schema = _SCHEMA
        if self.traces:
            reader = reader.option("includeHeaders", "true")
            schema = f"{_SCHEMA}, {_HEADERS}"
        return self.format.parse(reader.schema(schema).load())

    def write(self, frame: DataFrame, query: str, around: Surroundings) -> DataStreamWriter:
        from pyspark.sql import functions as f

        headers = _trace_of(frame)
        values = frame.drop(MESSAGE, *_captured(frame))
        if self.key is not None and self.key not in values.columns:
            raise DefinitionError(
                f"{self.place} has the key {self.key}, but the rows have "
                f"{', '.join(values.columns)}"
            )
        value = self.format.render(values)
        if self.deleted_when is not None:
            value = f.when(f.expr(self.deleted_when), f.lit(None)).otherwise(value)
        columns = [value.alias("value")]
        if self.key is not None:
            columns.append(f.col(self.key).cast("string").cast("binary").alias("key"))
        if headers is not None:
            columns.append(headers.alias("headers"))
        rows = frame.select(*columns)
        if around.mode == "update":
            return batch_writer(rows, query, self._updates(around))
        return _writer(rows, self.name, around).options(**self.options)

    def _updates(self, around: Surroundings) -> Callable[[DataFrame, Turn], None]:
        """Writes each micro-batch as a batch: Spark does not support update mode for Python
        sinks."""

        def write(batch: DataFrame, turn: Turn) -> None:
            writer = (
                batch.write.format(WRITE_FORMAT).mode("append").options(**around.client_options)
            )
            writer = writer.option("topic", self.name).options(**self.options)
            identity = {"writeId": turn.query_id, "writeVersion": str(turn.batch_id)}
            writer.options(**identity).save()

        return write


@dataclass(frozen=True, slots=True)
class RejectedTopic(Sink):
    """Writes rejected records unchanged, with their reason and position as headers."""

    name: str

    @property
    def place(self) -> str:
        return f"topic {self.name}"

    def write(self, frame: DataFrame, query: str, around: Surroundings) -> DataStreamWriter:  # noqa: ARG002
        from pyspark.sql import functions as f

        def header(name: str, value: Column) -> Column:
            return f.struct(f.lit(name).alias("key"), value.cast("binary").alias("value"))

        headers = f.array(
            header("reason", f.col("reason")),
            header("topic", f.col("topic")),
            header("partition", f.col("partition").cast("string")),
            header("offset", f.col("offset").cast("string")),
        )
        rows = frame.select("key", "value", headers.alias("headers"))
        return _writer(rows, self.name, around).option("includeHeaders", "true")


@dataclass(frozen=True, slots=True)
class Table(Source):
    """A compacted topic as a table: the latest value of each key, as of the beginning of each
    batch.

    A value that does not parse stops the query.
    """

    name: str
    format: Format
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"table of topic {self.name}"

    @property
    def topics(self) -> tuple[str, ...]:
        return (self.name,)

    def load(self, spark: SparkSession, around: Surroundings) -> DataFrame:
        from pyspark.sql import functions as f

        reader = spark.read.format(READ_FORMAT).options(**around.client_options)
        reader = reader.options(subscribe=self.name).options(**self.options)
        rows = reader.schema(_SCHEMA).load()
        # All records of a key are in one partition, unless partitions were added.
        latest = rows.groupBy("key").agg(
            f.max_by(
                f.struct("value", "topic", "partition", "offset", "timestamp"),
                f.struct("timestamp", "offset"),
            ).alias("latest")
        )
        values = latest.select("key", "latest.*").where("value IS NOT NULL")
        parsed = self.format.parse(values)
        checked = f.when(f.col("reason").isNull(), f.col("fields")).otherwise(
            f.raise_error(f.concat(_place(), f.lit(" "), f.col("reason")))
        )
        return _columns(parsed.withColumn("fields", checked)).drop(MESSAGE)


def _columns(parsed: DataFrame, *, traces: bool = False) -> DataFrame:
    from pyspark.sql import functions as f

    columns = [f.col(name) for name in _MESSAGE_COLUMNS]
    if traces:
        kept = f.filter("headers", lambda each: each["key"].isin(TRACE_PARENT, TRACE_STATE))
        columns.append(kept.alias(_TRACE))
    return parsed.select("fields.*", f.struct(*columns).alias(MESSAGE))


def _captured(frame: DataFrame) -> list[str]:
    """The column of changes of a database, if there is one: it describes the row."""
    from pyspark.sql.types import StructType

    kind = frame.schema[CHANGE].dataType if CHANGE in frame.columns else None
    is_ours = isinstance(kind, StructType) and kind.names == [*CHANGE_FIELDS]
    return [CHANGE] if is_ours else []


def _trace_of(frame: DataFrame) -> Column | None:
    """The headers of the message from which a row was made; None if they were not read."""
    from pyspark.sql.types import StructType

    kind = frame.schema[MESSAGE].dataType if MESSAGE in frame.columns else None
    has_trace = isinstance(kind, StructType) and _TRACE in kind.names
    return frame[MESSAGE][_TRACE] if has_trace else None


def _place() -> Column:
    from pyspark.sql import functions as f

    return f.format_string("the value at %s-%d, offset %d,", "topic", "partition", "offset")


def _writer(frame: DataFrame, topic: str, around: Surroundings) -> DataStreamWriter:
    writer = frame.writeStream.format(WRITE_FORMAT).options(**around.client_options)
    return writer.option("topic", topic)
