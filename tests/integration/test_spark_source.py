"""The source's readers without Spark: they are plain classes, called as Spark calls them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.streaming.datasource import ReadAllAvailable

from ottla.pipeline.reading.columns import SourceColumn
from ottla.pipeline.reading.data_source import OttlaReader, OttlaStreamReader, from_json
from ottla.pipeline.reading.errors import ClusterError, DataLossError, OptionError
from ottla.pipeline.reading.options import parse_options
from ottla.runtime.system_clock import SystemClock
from ottla.testing import Cluster

COUNT = 3_000
COLUMNS = [
    SourceColumn(name, is_nullable=True)
    for name in ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
]
THEN_MS = SystemClock().now_ms() - 60_000


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        cluster.create_topic("orders", partitions=3)
        produce(cluster, "orders", COUNT, codec="zstd")
        yield cluster


def produce(cluster: Cluster, topic: str, count: int, *, codec: str = "none") -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "compression.type": codec})
    for number in range(count):
        producer.produce(
            topic,
            key=None if number % 7 == 0 else b"%d" % (number % 10),
            value=b"%d" % number,
            partition=number % 3,
            timestamp=THEN_MS + number,
        )
    assert producer.flush(30) == 0


def options(cluster: Cluster, **given: str) -> dict[str, str]:
    return {"kafka.bootstrap.servers": cluster.bootstrap, "subscribe": "orders"} | given


def reader_of(given: dict[str, str], columns: Sequence[SourceColumn] = COLUMNS) -> OttlaReader:
    return OttlaReader(parse_options(given, is_streaming=False), columns)


def read(cluster: Cluster, **given: str) -> list[dict[str, Any]]:
    reader = reader_of(options(cluster, **given))
    return [row for part in reader.partitions() for row in rows_of(reader, part)]


def rows_of(reader: OttlaReader, part: InputPartition) -> list[dict[str, Any]]:
    return [row for batch in reader.read(part) for row in batch.to_pylist()]


def stream(cluster: Cluster, **given: str) -> OttlaStreamReader:
    return OttlaStreamReader(parse_options(options(cluster, **given), is_streaming=True), COLUMNS)


def test_every_record_comes_once_and_in_order(cluster: Cluster) -> None:
    rows = read(cluster)
    assert sorted(int(row["value"]) for row in rows) == list(range(COUNT))
    for partition in range(3):
        mine = [row for row in rows if row["partition"] == partition]
        assert [row["offset"] for row in mine] == list(range(COUNT // 3))
        assert [int(row["value"]) for row in mine] == list(range(partition, COUNT, 3))


def test_only_the_columns_of_the_schema_are_read(cluster: Cluster) -> None:
    expected = read(cluster)
    for names in (["offset"], ["timestamp", "key"], ["value", "topic"], ["timestampType"]):
        reader = reader_of(options(cluster), [each for each in COLUMNS if each.name in names])
        rows = [row for part in reader.partitions() for row in rows_of(reader, part)]
        assert rows == [{name: row[name] for name in row if name in names} for row in expected]


def test_pieces_of_a_partition_meet_in_the_middle_of_a_batch(cluster: Cluster) -> None:
    rows = read(cluster, maxRecordsPerPartition="70")
    assert sorted(int(row["value"]) for row in rows) == list(range(COUNT))


def test_offsets_and_timestamps_bound_what_is_read(cluster: Cluster) -> None:
    bounds = '{"orders": {"0": 10, "1": -2, "2": -1}}'
    rows = read(cluster, startingOffsets=bounds, endingOffsets='{"orders":{"0":12,"1":1,"2":-1}}')
    assert [(row["partition"], row["offset"]) for row in rows] == [(0, 10), (0, 11), (1, 0)]
    rows = read(cluster, startingTimestamp=str(THEN_MS + 300), endingTimestamp=str(THEN_MS + 306))
    assert sorted(int(row["value"]) for row in rows) == list(range(300, 306))


def test_a_timestamp_after_the_last_record_is_refused_or_the_end(cluster: Cluster) -> None:
    late = str(THEN_MS + COUNT)
    with pytest.raises(OptionError, match="no record at or after"):
        read(cluster, startingTimestamp=late)
    assert not read(cluster, startingTimestamp=late, startingOffsetsByTimestampStrategy="latest")


def test_a_topic_that_is_not_there_is_named(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="there is no topic nowhere"):
        read(cluster, subscribe="nowhere")


def test_a_pattern_leaves_out_what_is_internal(cluster: Cluster) -> None:
    given = {"kafka.bootstrap.servers": cluster.bootstrap, "subscribePattern": ".*"}
    reader = reader_of(given)
    found = {row["topic"] for part in reader.partitions() for row in rows_of(reader, part)}
    assert "orders" in found
    assert not any(topic.startswith("__") for topic in found)


def test_a_stream_goes_on_where_it_was_with_no_more_than_it_may_take(cluster: Cluster) -> None:
    reader = stream(cluster, startingOffsets="earliest", maxOffsetsPerTrigger="300")
    start = reader.initialOffset()
    values = []
    for _ in range(10):
        end = reader.latestOffset(start, reader.getDefaultReadLimit())
        for partition in reader.partitions(start, end):
            for batch in reader.read(partition):
                values += [int(value) for value in batch.column("value").to_pylist()]
        assert sum(from_json(end).values()) - sum(from_json(start).values()) == 300
        start = end
    assert sorted(values) == list(range(COUNT))
    assert reader.latestOffset(start, reader.getDefaultReadLimit()) == start


def test_what_comes_after_an_available_now_query_began_is_not_read(cluster: Cluster) -> None:
    cluster.create_topic("growing", partitions=3)
    reader = stream(cluster, subscribe="growing", startingOffsets="earliest")
    produce(cluster, "growing", 9)
    reader.prepareForTriggerAvailableNow()
    produce(cluster, "growing", 9)
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    assert from_json(end) == dict.fromkeys(from_json(end), 3)


def test_records_that_are_gone_fail_the_query_or_are_skipped(cluster: Cluster) -> None:
    cluster.create_topic("expiring", partitions=3)
    produce(cluster, "expiring", 30)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for deleted in admin.delete_records([TopicPartition("expiring", 0, 4)]).values():
        deleted.result()
    bounds = {"subscribe": "expiring", "startingOffsets": '{"expiring":{"0":0,"1":0,"2":0}}'}
    with pytest.raises(DataLossError, match="expiring-0 has no offsets 0 to 3"):
        read(cluster, **bounds)
    rows = read(cluster, **bounds, failOnDataLoss="false")
    assert [row["offset"] for row in rows if row["partition"] == 0] == list(range(4, 10))
    assert len(rows) == 26


def pushed(cluster: Cluster, *filters: Filter) -> tuple[list[Filter], list[dict[str, Any]]]:
    """What is left for Spark to filter, and what is read meanwhile."""
    reader = reader_of(options(cluster))
    left = list(reader.pushFilters([*filters]))
    return left, [row for part in reader.partitions() for row in rows_of(reader, part)]


def test_filters_on_partitions_and_offsets_are_done_by_reading_less(cluster: Cluster) -> None:
    left, rows = pushed(
        cluster,
        EqualTo(("topic",), "orders"),
        In(("partition",), (0, 2)),
        GreaterThan(("offset",), 5),
        LessThanOrEqual(("offset",), 7),
        IsNotNull(("offset",)),
    )
    assert not left
    assert [(row["partition"], row["offset"]) for row in rows] == [(0, 6), (0, 7), (2, 6), (2, 7)]
    assert pushed(cluster, EqualTo(("topic",), "other")) == ([], [])
    assert pushed(cluster, GreaterThan(("offset",), 9_999), LessThan(("offset",), 5)) == ([], [])


def test_a_filter_on_time_skips_what_is_older_and_is_left_to_spark(cluster: Cluster) -> None:
    since = datetime.fromtimestamp((THEN_MS + 2_990) / 1_000, tz=UTC)
    requested: list[Filter] = [GreaterThanOrEqual(("timestamp",), since), EqualTo(("key",), b"1")]
    left, rows = pushed(cluster, *requested)
    assert left == requested
    assert sorted(int(row["value"]) for row in rows) == list(range(2_990, COUNT))
    assert (
        pushed(cluster, GreaterThan(("timestamp",), datetime.max.replace(year=3000, tzinfo=UTC)))[1]
        == []
    )


def committed(cluster: Cluster, group: str) -> list[int]:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group})
    places = [TopicPartition("orders", partition) for partition in range(3)]
    offsets = [each.offset for each in consumer.committed(places, timeout=30)]
    consumer.close()
    return offsets


def test_a_stream_commits_its_progress_to_its_group(cluster: Cluster) -> None:
    given = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": "300"}
    reader = stream(cluster, **given, **{"kafka.group.id": "spark"})
    limit = reader.getDefaultReadLimit()
    end = reader.latestOffset(reader.initialOffset(), limit)
    assert committed(cluster, "spark") == [0, 0, 0]
    reader.latestOffset(end, limit)
    assert committed(cluster, "spark") == [100, 100, 100]


def test_a_failed_offset_commit_does_not_stop_the_stream(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    busy = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "busy"})
    busy.subscribe(["orders"])
    while not busy.assignment():
        busy.poll(0.1)
    reader = stream(cluster, startingOffsets="earliest", **{"kafka.group.id": "busy"})
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    busy.close()
    assert sum(from_json(end).values()) == COUNT
    assert "UNKNOWN_MEMBER_ID" in caplog.text
