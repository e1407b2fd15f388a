"""Rows in a real PostgreSQL: upserted, and waiting for a server that goes away."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.pipelines import Pipeline, definition, ended, send, wait_until
from tests.support.spark.postgres import Postgres, reason_unavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

TEXT = """
    @source(Topic("<orders>", Json("shop string, number int")))
    def orders(rows):
        return rows

    @sink(Jdbc("<url>?user=ottla", "totals", ("shop",), driver="org.postgresql.Driver"),
          mode="update")
    def totals():
        return "SELECT shop, count(*) AS orders, sum(number) AS total FROM orders GROUP BY shop"
"""
LATEST = """
    @source(Topic("<orders>", Json("shop string, number int")))
    def orders(rows):
        return rows

    @sink(Jdbc("<url>?user=ottla", "totals", ("shop",), driver="org.postgresql.Driver"))
    def totals():
        return "SELECT shop, number AS total FROM orders"
"""
SHOPS = {"left": 1, "right": 0}


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
def pipeline(
    spark: SparkSession, node: RunningNode, tmp_path: Path, postgres: Postgres, topics: Topics
) -> Pipeline:
    postgres.sql("DROP TABLE IF EXISTS totals")
    postgres.sql("CREATE TABLE totals (shop text PRIMARY KEY, orders bigint, total bigint)")
    return Pipeline(tmp_path / "totals.py", spark, node.bootstrap, tmp_path / "checkpoints")


def order(pipeline: Pipeline, topic: str, *numbers: int) -> None:
    values = [{"shop": "left" if number % 2 else "right", "number": number} for number in numbers]
    send(pipeline.bootstrap, topic, values)


def test_rows_are_inserted_or_updated_by_their_key(
    pipeline: Pipeline, topics: Topics, postgres: Postgres
) -> None:
    orders = topics.create(1)
    definition(pipeline.file, TEXT, orders=orders, url=postgres.url)
    order(pipeline, orders, 1, 3)
    assert pipeline.run() is None
    assert postgres.sql("SELECT * FROM totals ORDER BY shop") == [["left", "2", "4"]]
    order(pipeline, orders, 5, 2)
    assert pipeline.run() is None
    expected = [["left", "3", "9"], ["right", "1", "2"]]
    assert postgres.sql("SELECT * FROM totals ORDER BY shop") == expected


def test_of_rows_with_the_same_key_in_a_batch_the_last_one_counts(
    pipeline: Pipeline, topics: Topics, postgres: Postgres
) -> None:
    orders = topics.create(1)
    definition(pipeline.file, LATEST, orders=orders, url=postgres.url)
    for numbers in ((1, 2, 3, 4, 5), (7, 6, 9, 8)):
        order(pipeline, orders, *numbers)
        assert pipeline.run() is None
        last = {name: [n for n in numbers if n % 2 == odd][-1] for name, odd in SHOPS.items()}
        assert postgres.sql("SELECT shop, total FROM totals ORDER BY shop") == [
            [name, str(last[name])] for name in ("left", "right")
        ]


def test_a_database_that_goes_away_is_waited_for(
    pipeline: Pipeline, topics: Topics, postgres: Postgres, caplog: pytest.LogCaptureFixture
) -> None:
    orders = topics.create(1)
    definition(pipeline.file, TEXT, orders=orders, url=postgres.url)
    order(pipeline, orders, 1, 2, 3)
    postgres.stop()
    try:
        with caplog.at_level(logging.WARNING):
            running = pipeline.start()
            wait_until(lambda: "waits for" in caplog.text or running.failure() is not None)
        assert running.failure() is None
        assert f"totals waits for table totals of {postgres.url}: " in caplog.text
    finally:
        postgres.start()
    assert ended(running) is None
    expected = [["left", "2", "4"], ["right", "1", "2"]]
    assert postgres.sql("SELECT * FROM totals ORDER BY shop") == expected
