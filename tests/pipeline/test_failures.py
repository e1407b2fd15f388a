"""What goes wrong around a pipeline: a clear message, nothing lost, and work goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition

from ottla.pipeline.running.failures import Failure
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.pipelines import Pipeline, definition, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

COPY = """
    @source(Topic("<orders>", Json("number <type>")<more>))
    def orders(rows):
        return rows

    @sink(Files("<out>", "parquet"))
    def copied(orders):
        return orders.select("number")
"""


@pytest.fixture
def pipeline(spark: SparkSession, node: RunningNode, tmp_path: Path) -> Pipeline:
    return Pipeline(tmp_path / "copy.py", spark, node.bootstrap, tmp_path / "checkpoints")


def copy(pipeline: Pipeline, orders: str, *, kind: str = "int", more: str = "") -> None:
    definition(pipeline.file, COPY, orders=orders, out=out(pipeline), type=kind, more=more)


def out(pipeline: Pipeline) -> Path:
    return pipeline.file.with_name("out")


def order(pipeline: Pipeline, topic: str, *found: object) -> None:
    send(pipeline.bootstrap, topic, [{"number": number} for number in found])


def copied(pipeline: Pipeline) -> list[int]:
    rows = pipeline.spark.read.schema("number bigint").parquet(str(out(pipeline))).collect()
    return sorted(row.number for row in rows)


def assert_resumable(failure: Failure | None, message: str) -> None:
    assert failure is not None
    assert failure.message.startswith("copied stopped: ")
    assert message in failure.message
    assert "\n" not in failure.message
    assert "No data is lost" in failure.hints[-1]


def test_a_wrong_topic_is_named_before_anything_runs(pipeline: Pipeline) -> None:
    copy(pipeline, "nobodys-orders")
    _, mistakes = pipeline.check()
    assert mistakes == [
        "source orders: there is no topic nobodys-orders; create it first, or look for a typo"
    ]


def test_a_value_of_another_schema_stops_the_query_until_the_schema_is_right(
    pipeline: Pipeline, topics: Topics
) -> None:
    orders = topics.create(1)
    copy(pipeline, orders)
    order(pipeline, orders, 1, 2)
    assert pipeline.run() is None
    order(pipeline, orders, 3, 5_000_000_000)
    assert_resumable(
        pipeline.run(), f"the value at {orders}-0, offset 3, is not JSON with number int."
    )
    assert copied(pipeline) == [1, 2]
    copy(pipeline, orders, kind="bigint")
    assert pipeline.run() is None
    assert copied(pipeline) == [1, 2, 3, 5_000_000_000]


def test_expired_offsets_stop_the_query_unless_the_user_chose_to_go_on(
    pipeline: Pipeline, topics: Topics
) -> None:
    orders = topics.create(1)
    copy(pipeline, orders)
    order(pipeline, orders, 0, 1)
    assert pipeline.run() is None
    order(pipeline, orders, 2, 3, 4, 5)
    for deleted in topics.admin.delete_records([TopicPartition(orders, 0, 4)]).values():
        deleted.result()
    assert_resumable(pipeline.run(), f"{orders}-0 has no offsets 2 to 3")
    assert copied(pipeline) == [0, 1]
    copy(pipeline, orders, more=', options={"failOnDataLoss": "false"}')
    assert pipeline.run() is None
    assert copied(pipeline) == [0, 1, 4, 5]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small disk takes the right to mount one")
    yield disk
    # Lazily: Spark lets go of its files a moment after the query has ended.
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_checkpoint_disk_stops_the_query_until_there_is_room(
    pipeline: Pipeline, topics: Topics, small_disk: Path
) -> None:
    orders = topics.create(1)
    pipeline = Pipeline(pipeline.file, pipeline.spark, pipeline.bootstrap, small_disk / "here")
    copy(pipeline, orders)
    order(pipeline, orders, 0, 1)
    assert pipeline.run() is None
    order(pipeline, orders, 2, 3)
    filling = small_disk / "filling"
    with pytest.raises(OSError, match="No space left"):
        filling.write_bytes(bytes(1_000_000))
    assert_resumable(pipeline.run(), f"no space is left on the disk of its checkpoint {small_disk}")
    filling.unlink()
    assert pipeline.run() is None
    assert copied(pipeline) == [0, 1, 2, 3]
