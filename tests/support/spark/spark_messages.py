"""Messages as Spark writes and reads them, through its own Kafka connector or through ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

PARTITIONS = 4
SCHEMA = (
    "topic string, partition int, key binary, value binary,"
    " headers array<struct<key: string, value: binary>>"
)


class Message(NamedTuple):
    """What Spark writes. Bytes, or nothing, are as good for keys as for values."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class Received(NamedTuple):
    """What Spark reads, with the place that the message got."""

    message: Message
    offset: int
    timestamp_ms: int
    timestamp_type: int


def message(topic: str, number: int) -> Message:
    """Keys that come again, and every field left out now and then."""
    return Message(
        topic,
        number % PARTITIONS,
        None if number % 7 == 0 else b"key %d" % (number % 100),
        None if number % 11 == 0 else b"value %d " % number * (number % 20),
        tuple((f"header {name}", b"%d" % number if name else None) for name in range(number % 3)),
    )


def messages(topic: str, count: int, *, start: int = 0) -> list[Message]:
    return [message(topic, number) for number in range(start, start + count)]


@dataclass(frozen=True, slots=True)
class Connector:
    """A Spark session with a node to talk to: `sink` writes, and `source` reads."""

    spark: SparkSession
    bootstrap: str
    source: str = "kafka"
    sink: str = "kafka"

    def frame(self, sent: Sequence[Message]) -> DataFrame:
        return self.spark.createDataFrame(sent, SCHEMA)

    def write(self, sent: Sequence[Message], options: Mapping[str, str] | None = None) -> None:
        writer = self.frame(sent).write.format(self.sink).mode("append")
        writer = writer.option("includeHeaders", "true")
        writer.options(**self._always, **(options or {})).save()

    def read(self, **options: str) -> list[Received]:
        """In the order of topics, partitions and offsets."""
        reader = self.spark.read.format(self.source).options(**self._reading)
        return received(reader.options(**options).load())

    def copy(
        self,
        source: str,
        target: str,
        checkpoint: Path,
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Streams what is there and was not copied before, and ends."""
        reader = self.spark.readStream.format(self.source).options(**self._reading)
        frame = reader.options(subscribe=source, startingOffsets="earliest").load()
        writer = frame.drop("topic").writeStream.format(self.sink).options(**self._always)
        writer = writer.option("topic", target).option("checkpointLocation", str(checkpoint))
        writer = writer.options(**(options or {}))
        writer.trigger(availableNow=True).start().awaitTermination()

    @property
    def _always(self) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.bootstrap}

    @property
    def _reading(self) -> dict[str, str]:
        # Spark's tasks ask for offsets behind a fetch that waits for more, on the same connection.
        wait = {"kafka.fetch.max.wait.ms": "10"}
        return {**self._always, **wait, "includeHeaders": "true"}


def received(frame: DataFrame) -> list[Received]:
    # As a number: a timestamp would be shown in the time zone of the process that collects it.
    rows = frame.selectExpr("*", "unix_millis(timestamp) AS timestamp_ms").collect()
    found = [_received(row) for row in rows]
    return sorted(found, key=lambda each: (*each.message[:2], each.offset))


def _received(row: Row) -> Received:
    headers = tuple((header.key, _bytes(header.value)) for header in row.headers or ())
    place = (row.topic, row.partition)
    return Received(
        Message(*place, _bytes(row.key), _bytes(row.value), headers),
        row.offset,
        row.timestamp_ms,
        row.timestampType,
    )


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)


def in_any_order(found: Iterable[Message]) -> list[str]:
    """To compare by: two tasks write at a time, and nothing cannot be sorted among bytes."""
    return sorted(map(repr, found))


def assert_came_back(found: Sequence[Received], sent: Sequence[Message]) -> None:
    """All that was sent and nothing else, at offsets without gaps from 0 on."""
    assert in_any_order(each.message for each in found) == in_any_order(sent)
    ends: dict[tuple[str, int], int] = {}
    for each in found:
        place = each.message[:2]
        assert each.offset == ends.get(place, 0)
        ends[place] = each.offset + 1
