"""The two connectors that are compared, each with the options that make it fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.versus.servers import OttlaServer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ALL_COLUMNS = (
    "key binary, value binary, topic string NOT NULL, partition int NOT NULL, "
    "offset bigint NOT NULL, timestamp timestamp NOT NULL, timestampType int NOT NULL"
)


@dataclass(frozen=True, slots=True)
class Side:
    """A connector in a session, pointed at a node."""

    name: str
    format: str
    read_options: Mapping[str, str]
    # Whether a schema can select columns.
    takes_schema: bool
    write_options: Mapping[str, str]
    spark: SparkSession
    bootstrap: str

    def batch(self, topic: str) -> DataFrame:
        """All columns."""
        reader = self.spark.read.format(self.format).options(**self._always, **self.read_options)
        if self.takes_schema:
            reader = reader.schema(ALL_COLUMNS)
        return reader.option("subscribe", topic).load()

    def stream(self, topic: str, columns: str) -> DataFrame:
        """At least these columns."""
        reader = self.spark.readStream.format(self.format)
        reader = reader.options(**self._always, **self.read_options)
        if self.takes_schema:
            reader = reader.schema(columns)
        return reader.options(subscribe=topic, startingOffsets="earliest").load()

    @property
    def _always(self) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.bootstrap}

    @property
    def writing(self) -> dict[str, str]:
        return {**self._always, **self.write_options}


def ours(spark: SparkSession, bootstrap: str) -> Side:
    """Exactly once, with its default options and a schema of the columns that are read."""
    return Side(OttlaServer.name, "ottla", {}, True, {}, spark, bootstrap)


def theirs(spark: SparkSession, bootstrap: str) -> Side:
    """At least once is all that it has. Its own defaults read and write half as fast."""
    read = {
        "kafka.max.poll.records": "10000",
        "kafka.max.partition.fetch.bytes": str(8 * 1024 * 1024),
        "kafka.fetch.max.bytes": str(64 * 1024 * 1024),
        # It asks for the end of the log behind a fetch that waits for more.
        "kafka.fetch.max.wait.ms": "10",
    }
    write = {"kafka.batch.size": str(512 * 1024), "kafka.linger.ms": "5"}
    return Side("Spark's Kafka connector", "kafka", read, False, write, spark, bootstrap)
