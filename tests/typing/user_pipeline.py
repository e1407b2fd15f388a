"""A pipeline as users write it, and a connector and a format of their own; see user_code.py."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from ottla.pipeline import (
    Avro,
    BatchSink,
    Bytes,
    Csv,
    DefinitionError,
    Delta,
    Files,
    Format,
    Jdbc,
    Json,
    JsonSchema,
    MissingPackageError,
    PostgresChanges,
    Protobuf,
    Rejected,
    Sink,
    Source,
    Surroundings,
    Table,
    Text,
    Topic,
    Turn,
    UnwritableRowError,
    sink,
    source,
    view,
)

FORMATS: list[Format] = [
    Json("origin string NOT NULL, delay int"),
    Csv("origin string, delay int", separator=";"),
    Avro('{"type": "record", "name": "Flight", "fields": []}'),
    Avro(subject="flights-value"),
    JsonSchema("flights-value"),
    Protobuf("flights-value", message="Flight"),
    Text(),
    Bytes(),
]
SOURCES: list[Source] = [
    Topic("flights", FORMATS[0], rejected_to="rejected"),
    Table("planes", Text()),
    Files("in", "csv", schema="origin string"),
    PostgresChanges("host=127.0.0.1 dbname=shop", "orders", texts=("note",)),
]
SINKS: list[Sink] = [
    Topic("delays", Json(), key="origin", deleted_when="delay IS NULL"),
    Delta("delays.delta"),
    Jdbc("jdbc:postgresql://127.0.0.1/flights", "delays", key=("origin",)),
]
ERRORS = (DefinitionError, MissingPackageError, UnwritableRowError)


@dataclass(frozen=True)
class Printed(BatchSink):
    """A sink of one's own."""

    @property
    def place(self) -> str:
        return "the terminal"

    def write_batch(self, batch: DataFrame, turn: Turn) -> None:
        print(turn.query, turn.batch_id)
        batch.show()

    def is_passing(self, error: Exception) -> bool:
        return False


@dataclass(frozen=True)
class Rates(Source):
    """A source of one's own."""

    @property
    def place(self) -> str:
        return "a clock"

    def load(self, spark: SparkSession, around: Surroundings) -> DataFrame:
        return spark.readStream.format("rate").load()

    def rejected(self, spark: SparkSession, around: Surroundings) -> Rejected | None:
        return None


@source(Rates())
def rates(rows: DataFrame) -> DataFrame:
    return rows.withWatermark("timestamp", "10 seconds")


@view
def counts() -> str:
    return "SELECT count(*) AS rows FROM rates"


@sink(Printed(), mode="complete", every="10 seconds")
def printed(counts: DataFrame) -> DataFrame:
    return counts
