"""A Delta table: each batch is in it once, also after a retry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ottla.pipeline import Delta
from ottla.pipeline.definitions.connector import Turn
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.pipelines import Pipeline, definition, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed: run `make setup`")

TEXT = """
    @source(Topic("<orders>", Json("number int")))
    def orders(rows):
        return rows.drop("message")

    @sink(Delta("<table>"))
    def kept(orders):
        return orders
"""


def numbers(table: Path) -> list[int]:
    rows = deltalake.DeltaTable(str(table)).to_pyarrow_table().to_pylist()
    return sorted(row["number"] for row in rows)


def test_batches_are_appended_and_none_twice(
    spark: SparkSession, node: RunningNode, topics: Topics, tmp_path: Path
) -> None:
    orders, table = topics.create(1), tmp_path / "table"
    pipeline = Pipeline(tmp_path / "kept.py", spark, node.bootstrap, tmp_path / "checkpoints")
    definition(pipeline.file, TEXT, orders=orders, table=table)
    for start in (0, 10):
        values = [{"number": number} for number in range(start, start + 10)]
        send(node.bootstrap, orders, values)
        assert pipeline.run() is None
        assert numbers(table) == list(range(start + 10))
    again = spark.createDataFrame([(99,)], "number int")
    sink = Delta(str(table))
    sink.write_batch(again, Turn("again", "id", 0))
    sink.write_batch(again, Turn("again", "id", 0))
    assert numbers(table) == [*range(20), 99]
    sink.write_batch(again, Turn("again", "id", 1))
    assert numbers(table) == [*range(20), 99, 99]
