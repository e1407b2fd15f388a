"""Spark's own Kafka connector, in the JVM, against a node: batches, and streams that end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from confluent_kafka import Producer

from tests.conformance.topics import Topics
from tests.nodes import RunningNode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

# One worker gets all of them, so that Spark starts once.
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROWS = 10_000
PARTITIONS = 4
SCHEMA = (
    "topic string, partition int, key binary, value binary,"
    " headers array<struct<key: string, value: binary>>"
)
FLUSH_TIMEOUT_S = 30.0


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
    """The `kafka` format of a Spark session, with a node to talk to."""

    spark: SparkSession
    bootstrap: str

    def write(self, sent: Sequence[Message], options: Mapping[str, str] | None = None) -> None:
        writer = self.spark.createDataFrame(sent, SCHEMA).write.format("kafka")
        writer = writer.option("includeHeaders", "true")
        writer.options(**self._always, **(options or {})).save()

    def read(self, **options: str) -> list[Received]:
        """In the order of topics, partitions and offsets."""
        reader = self.spark.read.format("kafka").options(**self._reading)
        return received(reader.options(**options).load())

    def copy(self, source: str, target: str, checkpoint: Path) -> None:
        """Streams what is there and was not copied before, and ends."""
        reader = self.spark.readStream.format("kafka").options(**self._reading)
        frame = reader.options(subscribe=source, startingOffsets="earliest").load()
        writer = frame.drop("topic").writeStream.format("kafka").options(**self._always)
        writer = writer.option("topic", target).option("checkpointLocation", str(checkpoint))
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
    # As a number: a timestamp would be shown in the zone of whoever collects it.
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


@pytest.fixture(scope="session")
def connector(spark: SparkSession, node: RunningNode) -> Connector:
    return Connector(spark, node.bootstrap)


def test_rows_come_back_as_they_were_written(connector: Connector, topics: Topics) -> None:
    topic = topics.create(PARTITIONS)
    sent = messages(topic, ROWS)
    connector.write(sent)
    found = connector.read(subscribe=topic)
    assert_came_back(found, sent)
    assert {each.timestamp_type for each in found} == {0}
    split = connector.read(subscribe=topic, minPartitions="10")
    assert split == found


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_every_codec_that_spark_writes_comes_back(
    connector: Connector, topics: Topics, codec: str
) -> None:
    topic = topics.create(PARTITIONS)
    sent = messages(topic, 1_000)
    connector.write(sent, {"kafka.compression.type": codec})
    assert_came_back(connector.read(subscribe=topic), sent)
    assert {header.codec.name.lower() for header in topics.stored(topic)} == {codec}


def test_offsets_bound_what_is_read(connector: Connector, topics: Topics) -> None:
    topic = topics.create(PARTITIONS)
    connector.write(messages(topic, 1_000))
    everything = connector.read(subscribe=topic)
    earliest, latest = -2, -1
    found = connector.read(
        subscribe=topic,
        startingOffsets=json.dumps({topic: {"0": 10, "1": earliest, "2": 249, "3": 0}}),
        endingOffsets=json.dumps({topic: {"0": 200, "1": 17, "2": latest, "3": 0}}),
    )
    ranges = [range(10, 200), range(17), range(249, 250), range(0)]
    assert found == [each for each in everything if each.offset in ranges[each.message.partition]]
    assigned = connector.read(assign=json.dumps({topic: [1, 3]}))
    assert assigned == [each for each in everything if each.message.partition in (1, 3)]


def test_timestamps_bound_what_is_read(
    connector: Connector, topics: Topics, node: RunningNode
) -> None:
    topic = topics.create(PARTITIONS)
    producer = Producer({"bootstrap.servers": node.bootstrap, "log_level": 0})
    for number in range(1_000):
        # Each partition has a time of its own, in steps of two.
        partition, step = number % PARTITIONS, number // PARTITIONS
        timestamp_ms = 1_000_000 * (partition + 1) + 2 * step
        producer.produce(topic, b"%d" % number, partition=partition, timestamp=timestamp_ms)
    assert producer.flush(FLUSH_TIMEOUT_S) == 0
    everything = connector.read(subscribe=topic)
    assert len(everything) == 1_000

    found = connector.read(
        subscribe=topic, startingTimestamp="2000101", startingOffsetsByTimestampStrategy="latest"
    )
    assert found == [each for each in everything if each.timestamp_ms >= 2_000_101]

    starts = [1_000_000, 2_000_200, 3_000_201, 4_000_498]
    ends = [1_000_100, 2_000_200, 3_000_301, 9_000_000]
    found = connector.read(
        subscribe=topic,
        startingOffsetsByTimestamp=json.dumps({topic: dict(enumerate(starts))}),
        endingOffsetsByTimestamp=json.dumps({topic: dict(enumerate(ends))}),
    )
    assert found == [
        each
        for each in everything
        if starts[each.message.partition] <= each.timestamp_ms < ends[each.message.partition]
    ]


def test_pattern_finds_the_topics_that_a_column_wrote_to(
    connector: Connector, topics: Topics
) -> None:
    first, second, other = (topics.create(PARTITIONS) for _ in range(3))
    sent = [message(topic, number) for topic in (first, second) for number in range(500)]
    connector.write([*sent, *messages(other, 10)])
    # Their names end with a number.
    assert_came_back(connector.read(subscribePattern=f"{other[:-1]}[12]"), sent)
    listed = connector.read(subscribe=f"{first},{second}")
    assert_came_back(listed, sent)


def test_stream_copies_what_is_new_since_its_checkpoint(
    connector: Connector, topics: Topics, tmp_path: Path
) -> None:
    source, target = topics.create(PARTITIONS), topics.create(PARTITIONS)
    sent: list[Message] = []
    for _ in range(2):
        more = messages(source, 1_000, start=len(sent))
        connector.write(more)
        sent += more
        connector.copy(source, target, tmp_path / "checkpoint")
        copied = connector.read(subscribe=target)
        assert_came_back(copied, [each._replace(topic=target) for each in sent])
