"""The lag of a query, as Kafka's own tool shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.java_tools.client import Java
from tests.conformance.java_tools.test_groups import CONSUMER_GROUPS, rows
from tests.conformance.java_tools.test_topics import Tool
from tests.conformance.kafka.process import reason_unavailable
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.spark_messages import PARTITIONS, Connector, messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.xdist_group("spark")]


@pytest.fixture
def consumer_groups(node: RunningNode) -> Iterator[Tool]:
    if reason := reason_unavailable():
        pytest.skip(reason)
    java = Java()
    yield Tool(java, CONSUMER_GROUPS, node)
    java.close()


def lag(consumer_groups: Tool, group: str) -> dict[str, tuple[int, int, int]]:
    """Committed offset, end of the log and lag of each partition."""
    found = rows(consumer_groups("--describe", "--group", group))
    return {row[2]: (int(row[3]), int(row[4]), int(row[5])) for row in found}


def test_lag_of_a_query_is_shown_while_it_runs_and_after_its_last_batch(
    spark: SparkSession,
    node: RunningNode,
    topics: Topics,
    tmp_path: Path,
    consumer_groups: Tool,
) -> None:
    topic, group = topics.create(PARTITIONS), topics.name()
    connector = Connector(spark, node.bootstrap)
    connector.write(messages(topic, 400))
    reader = spark.readStream.format("ottla").option("kafka.bootstrap.servers", node.bootstrap)
    reader = reader.options(subscribe=topic, startingOffsets="earliest")
    writer = reader.option("kafka.group.id", group).load().writeStream.format("noop")
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
        assert lag(consumer_groups, group) == {
            str(partition): (100, 100, 0) for partition in range(PARTITIONS)
        }
    finally:
        query.stop()
    connector.write(messages(topic, 40))
    assert lag(consumer_groups, group) == {
        str(partition): (100, 110, 10) for partition in range(PARTITIONS)
    }
    once = writer.trigger(availableNow=True).start()
    once.awaitTermination()
    assert {behind for _, _, behind in lag(consumer_groups, group).values()} == {0}
