"""`format("ottla")` as a sink: what it writes comes back through Spark's own connector."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.spark_messages import PARTITIONS, Connector, in_any_order, messages

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
    return Connector(spark, node.bootstrap, source="ottla", sink="ottla")


def test_rows_come_back_through_the_other_connector(
    ours: Connector, theirs: Connector, topics: Topics
) -> None:
    topic = topics.create(PARTITIONS)
    sent = messages(topic, ROWS)
    ours.write(sent, {"kafka.compression.type": "lz4"})
    found = theirs.read(subscribe=topic, **{"kafka.isolation.level": "read_committed"})
    assert in_any_order(each.message for each in found) == in_any_order(sent)
    assert "LZ4" in {header.codec.name for header in topics.stored(topic)}
    assert {each.timestamp_type for each in found} == {0}


def test_a_stream_writes_what_is_new_since_its_checkpoint(
    ours: Connector, theirs: Connector, topics: Topics, tmp_path: Path
) -> None:
    source, target = topics.create(PARTITIONS), topics.create(PARTITIONS)
    sent = messages(source, 0)
    for _ in range(2):
        more = messages(source, 1_000, start=len(sent))
        theirs.write(more)
        sent += more
        ours.copy(source, target, tmp_path / "checkpoint")
        copied = theirs.read(subscribe=target, **{"kafka.isolation.level": "read_committed"})
        expected = [each._replace(topic=target) for each in sent]
        assert in_any_order(each.message for each in copied) == in_any_order(expected)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [("partition AS value", "the column value is int"), ("value", "there is no topic nowhere")],
)
def test_mistakes_are_named(ours: Connector, columns: str, reason: str) -> None:
    """Before anything is written, or by the task that finds out."""
    frame = ours.frame(messages("any", 10)).selectExpr(columns)
    writer = frame.write.format("ottla").mode("append").option("topic", "nowhere")
    with pytest.raises(Exception, match=reason):
        writer.option("kafka.bootstrap.servers", ours.bootstrap).save()
