"""`format("ottla")` beside `format("kafka")`: the same rows, types and order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.spark_messages import PARTITIONS, Connector, assert_came_back, messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One worker gets all of them, so that Spark starts once.
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROWS = 5_000


@pytest.fixture(scope="session")
def theirs(spark: SparkSession, node: RunningNode) -> Connector:
    return Connector(spark, node.bootstrap)


@pytest.fixture(scope="session")
def ours(spark: SparkSession, node: RunningNode) -> Connector:
    return Connector(spark, node.bootstrap, source="ottla")


def test_schemas_are_the_same(ours: Connector, theirs: Connector, topics: Topics) -> None:
    topic = topics.create(PARTITIONS)
    for headers in ("true", "false"):
        frames = [
            each.spark.read.format(each.source)
            .option("kafka.bootstrap.servers", each.bootstrap)
            .options(subscribe=topic, includeHeaders=headers)
            .load()
            for each in (ours, theirs)
        ]
        assert frames[0].schema == frames[1].schema


def test_a_schema_says_which_columns_are_read(ours: Connector, topics: Topics) -> None:
    topic = topics.create(PARTITIONS)
    ours.write(messages(topic, 100))
    reader = ours.spark.read.format("ottla").option("kafka.bootstrap.servers", ours.bootstrap)
    reader = reader.option("subscribe", topic)
    whole = reader.load().select("timestamp", "key", "offset").collect()
    wanted = "timestamp timestamp NOT NULL, key binary, offset bigint NOT NULL"
    frame = reader.schema(wanted).load()
    assert [field.nullable for field in frame.schema] == [False, True, False]
    assert frame.collect() == whole
    with pytest.raises(Exception, match="value as string, but it is binary"):
        reader.schema("value string").load().collect()


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_rows_are_the_same(ours: Connector, theirs: Connector, topics: Topics, codec: str) -> None:
    topic = topics.create(PARTITIONS)
    sent = messages(topic, ROWS)
    theirs.write(sent, {"kafka.compression.type": codec})
    found = ours.read(subscribe=topic)
    assert_came_back(found, sent)
    assert found == theirs.read(subscribe=topic)


def test_bounds_mean_the_same(ours: Connector, theirs: Connector, topics: Topics) -> None:
    topic = topics.create(PARTITIONS)
    theirs.write(messages(topic, 1_000))
    earliest, latest = -2, -1
    bounds = {
        "startingOffsets": json.dumps({topic: {"0": 10, "1": earliest, "2": 249, "3": 0}}),
        "endingOffsets": json.dumps({topic: {"0": 200, "1": 17, "2": latest, "3": 0}}),
    }
    found = ours.read(subscribe=topic, **bounds)
    assert found == theirs.read(subscribe=topic, **bounds)
    assert len(found) == 190 + 17 + 1
    middle = str(found[100].timestamp_ms)
    for name in ("startingTimestamp", "endingTimestamp"):
        assert ours.read(subscribe=topic, **{name: middle}) == theirs.read(
            subscribe=topic, **{name: middle}
        )
    assigned = {"assign": json.dumps({topic: [1, 3]})}
    assert ours.read(**assigned) == theirs.read(**assigned)


def test_a_partition_is_split_over_tasks(ours: Connector, topics: Topics) -> None:
    topic = topics.create(PARTITIONS)
    sent = messages(topic, ROWS)
    ours.write(sent)
    found = ours.read(subscribe=topic, minPartitions="10")
    assert_came_back(found, sent)
    assert found == ours.read(subscribe=topic, maxRecordsPerPartition="300")


def test_a_stream_reads_what_is_new_since_its_checkpoint(
    ours: Connector, topics: Topics, tmp_path: Path
) -> None:
    source, target = topics.create(PARTITIONS), topics.create(PARTITIONS)
    sent = messages(source, 0)
    for _ in range(2):
        more = messages(source, 1_000, start=len(sent))
        ours.write(more)
        sent += more
        ours.copy(source, target, tmp_path / "checkpoint")
        copied = ours.read(subscribe=target)
        assert_came_back(copied, [each._replace(topic=target) for each in sent])


def test_a_wrong_topic_is_named_in_the_error(ours: Connector) -> None:
    with pytest.raises(Exception, match="there is no topic nowhere"):
        ours.read(subscribe="nowhere")


def test_filters_are_pushed_down_where_the_session_says_so(ours: Connector, topics: Topics) -> None:
    topic = topics.create(PARTITIONS)
    ours.write(messages(topic, 1_000))
    reader = ours.spark.read.format("ottla").option("kafka.bootstrap.servers", ours.bootstrap)
    wanted = "partition IN (1, 2) AND offset >= 10 AND offset < 12 AND timestamp > '2020-01-01'"
    frame = reader.option("subscribe", topic).load().where(wanted).select("partition", "offset")
    switch = "spark.sql.python.filterPushdown.enabled"
    ours.spark.conf.set(switch, "true")
    try:
        pushed = frame.where("true")
        found = sorted(tuple(row) for row in pushed.collect())
        assert pushed.rdd.getNumPartitions() == 2
    finally:
        ours.spark.conf.unset(switch)
    assert found == [(1, 10), (1, 11), (2, 10), (2, 11)]
    plain = reader.option("subscribe", topic).load().where(wanted).select("partition", "offset")
    assert sorted(tuple(row) for row in plain.collect()) == found
