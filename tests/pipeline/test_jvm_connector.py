"""Spark's own Kafka connector, in the JVM, against a node: batches, streams, and real time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer

from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.spark_messages import (
    PARTITIONS,
    Connector,
    Message,
    assert_came_back,
    message,
    messages,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One worker gets all of them, so that Spark starts once.
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROWS = 10_000
FLUSH_TIMEOUT_S = 30.0


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


def test_what_is_written_meanwhile_comes_through_in_real_time(
    connector: Connector, topics: Topics, tmp_path: Path
) -> None:
    # Each of its tasks has a core as long as the query runs.
    source, target = topics.create(2), topics.create(2)
    frame = connector.spark.readStream.format("kafka").options(
        **{"kafka.bootstrap.servers": connector.bootstrap}, subscribe=source
    )
    writer = (
        frame.option("startingOffsets", "earliest")
        .load()
        .select("key", "value")
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", connector.bootstrap)
        .option("topic", target)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .outputMode("update")
        .trigger(realTime="5 seconds")  # type: ignore[call-overload] # not declared by pyspark
    )
    values = {b"%d" % number for number in range(100)}
    query = writer.start()
    try:
        producer = Producer({"bootstrap.servers": connector.bootstrap})
        for value in sorted(values):
            producer.produce(source, value, key=value)
        assert producer.flush(10) == 0
        assert read_values(connector.bootstrap, target, count=len(values)) == values
        assert query.exception() is None
    finally:
        query.stop()


def read_values(bootstrap: str, topic: str, *, count: int) -> set[bytes | None]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    found: list[bytes | None] = []
    try:
        while len(found) < count:
            message = consumer.poll(60)
            assert message is not None, f"{len(found)} of {count} came"
            found.append(message.value())
    finally:
        consumer.close()
    return set(found)
