"""A streaming copy in which something fails in the middle: every row is there once afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from pyspark.errors import StreamingQueryException

from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.soak import IS_SOAK
from tests.support.spark.copying_query import CopyingQuery, Order, copy
from tests.support.spark.faulty_sink import FaultyDataSource, fault_options
from tests.support.spark.spark_messages import PARTITIONS, Connector, in_any_order, messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One worker gets all of them, so that Spark starts once.
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROWS = 2_000


class Fault(NamedTuple):
    at: str
    number: int = 0


# The decision is the first transaction that ends, then those of the tasks. What becomes of each of
# them is asked without Spark; here it is whether Spark calls as it is expected to.
FAULTS = [Fault("write"), Fault("after", 2)]
if IS_SOAK:
    FAULTS += [Fault("before", 1), Fault("after", 1), Fault("after", PARTITIONS + 1)]


@pytest.fixture(scope="session")
def faulty(spark: SparkSession, node: RunningNode) -> Connector:
    spark.dataSource.register(FaultyDataSource)
    return Connector(spark, node.bootstrap, source="ottla", sink="faulty")


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_batch_that_failed_is_in_once(
    faulty: Connector, topics: Topics, tmp_path: Path, fault: Fault
) -> None:
    source, target = topics.create(PARTITIONS), topics.create(PARTITIONS)
    sent = messages(source, ROWS)
    Connector(faulty.spark, faulty.bootstrap).write(sent)
    options = fault_options(tmp_path / "failed", batch_id=0, at=fault.at, number=fault.number)
    with pytest.raises(StreamingQueryException):
        faulty.copy(source, target, tmp_path / "checkpoint", options)
    faulty.copy(source, target, tmp_path / "checkpoint", options)
    found = Connector(faulty.spark, faulty.bootstrap, source="ottla").read(subscribe=target)
    expected = [each._replace(topic=target) for each in sent]
    assert in_any_order(each.message for each in found) == in_any_order(expected)


def test_what_a_driver_that_was_killed_has_decided_is_finished(
    spark: SparkSession, node: RunningNode, topics: Topics, tmp_path: Path
) -> None:
    """Spark is killed between two commits of the second of two batches, and another one goes on."""
    source, target = topics.create(PARTITIONS), topics.create(PARTITIONS)
    sent = messages(source, ROWS)
    Connector(spark, node.bootstrap).write(sent)
    order = Order(node.bootstrap, source, target, str(tmp_path), rows_per_batch=ROWS // 2)
    dying = CopyingQuery(replace(order, dies_in_batch=1))
    dying.start()
    assert dying.wait() != 0
    assert (tmp_path / "died").exists(), dying.said()
    copy(spark, order)
    found = Connector(spark, node.bootstrap, source="ottla").read(subscribe=target)
    expected = [each._replace(topic=target, headers=()) for each in sent]
    assert in_any_order(each.message._replace(partition=0) for each in found) == in_any_order(
        each._replace(partition=0) for each in expected
    )
