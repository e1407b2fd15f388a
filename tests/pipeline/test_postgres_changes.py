"""From a table of a real PostgreSQL to a compacted topic, whatever is killed on the way."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.pipelines import Pipeline, definition, is_committed, wait_until
from tests.support.spark.postgres import Postgres, reason_unavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

TEXT = """
    @source(PostgresChanges("<dsn>", "orders"))
    def orders(rows):
        return rows

    @sink(Topic("<copies>", Json(), key="id", deleted_when="change.operation = 'd'"))
    def copies(orders):
        return orders
"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    if reason := reason_unavailable():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory() as directory:
        server = Postgres(Path(directory))
        server.start()
        yield server
        server.stop()


@pytest.fixture
def copies(topics: Topics) -> str:
    return topics.create(2)


@pytest.fixture
def pipeline(
    spark: SparkSession, node: RunningNode, tmp_path: Path, postgres: Postgres, copies: str
) -> Pipeline:
    postgres.sql(
        "CREATE TABLE orders (id bigint PRIMARY KEY, shop text, price numeric(10,2), "
        "ordered timestamptz, paid bool)"
    )
    pipeline = Pipeline(tmp_path / "shop.py", spark, node.bootstrap, tmp_path / "checkpoints")
    dsn = f"host=127.0.0.1 port={postgres.port} user=ottla dbname=postgres"
    return Pipeline(
        definition(pipeline.file, TEXT, dsn=dsn, copies=copies),
        spark,
        node.bootstrap,
        tmp_path / "checkpoints",
    )


def records(pipeline: Pipeline, topic: str) -> list[tuple[str, dict[str, object] | None]]:
    """The keys and values, in the order of each partition."""
    wait_until(lambda: is_committed(pipeline.bootstrap, topic))
    reader = pipeline.spark.read.format("ottla").option("subscribe", topic)
    rows = reader.option("kafka.bootstrap.servers", pipeline.bootstrap).load().collect()
    rows.sort(key=lambda row: (row.partition, row.offset))
    return [
        (bytes(row.key).decode(), None if row.value is None else json.loads(bytes(row.value)))
        for row in rows
    ]


def test_a_table_becomes_a_compacted_topic(
    pipeline: Pipeline, postgres: Postgres, copies: str
) -> None:
    postgres.sql(
        "INSERT INTO orders SELECT i, 'shop ' || i % 7, i * 1.25, '2024-02-29 12:00+00', i % 2 = 0 "
        "FROM generate_series(1, 100) i"
    )
    assert pipeline.run() is None
    assert len(records(pipeline, copies)) == 100
    postgres.sql("UPDATE orders SET price = 9.99 WHERE id = 1")
    postgres.sql("DELETE FROM orders WHERE id = 2")
    postgres.sql("INSERT INTO orders (id, shop) VALUES (101, 'new')")
    # Killed with its replication slot, which it restores from its log.
    postgres.stop()
    postgres.start()
    assert pipeline.run() is None
    found = records(pipeline, copies)
    assert len(found) == 103
    latest = dict(found)
    assert latest["1"] == {
        "id": 1,
        "shop": "shop 1",
        "price": 9.99,
        "ordered": "2024-02-29T12:00:00.000Z",
        "paid": False,
    }
    assert latest["2"] is None
    assert latest["101"] == {"id": 101, "shop": "new"}
    # Nothing is new, and nothing comes again.
    assert pipeline.run() is None
    assert len(records(pipeline, copies)) == 103
