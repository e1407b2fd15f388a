"""Definitions turned into queries: what they read, make and write, and how they go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from tests.conformance.clients import TIMEOUT_S
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.pipelines import (
    Pipeline,
    definition,
    is_committed,
    numbers,
    send,
    values_of,
    wait_until,
)
from tests.support.spark.spark_messages import Connector, received

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ORDERS = """
    @source(Topic("<orders>", Json("shop string NOT NULL, number int, at timestamp")<rejected>))
    def orders(rows):
        return rows.withWatermark("at", "1 hour")

    @view
    def large(orders):
        return orders.where("number >= 10")
"""
TOTALS = (
    ORDERS
    + """
    @view
    def totals():
        return '''SELECT window.start AS since, shop, sum(number) AS total
                  FROM large GROUP BY window(at, '1 hour'), shop'''

    @sink(Topic("<out>", Json(), key="shop"), mode="update")
    def shop_totals(totals):
        return totals
"""
)
COPY = (
    ORDERS
    + """
    @sink(Topic("<out>", Json()))
    def copied(orders):
        return orders
"""
)


@pytest.fixture
def pipeline(spark: SparkSession, node: RunningNode, tmp_path: Path) -> Pipeline:
    return Pipeline(tmp_path / "shops.py", spark, node.bootstrap, tmp_path / "checkpoints")


def order(number: int) -> dict[str, object]:
    shop = "left" if number % 2 else "right"
    return {"shop": shop, "number": number, "at": f"2026-01-01T0{number // 10}:00:00Z"}


def test_sql_and_functions_make_one_query_from_topic_to_topic(
    pipeline: Pipeline, topics: Topics
) -> None:
    orders, out = topics.create(2), topics.create(2)
    definition(pipeline.file, TOTALS, orders=orders, out=out, rejected="")
    send(pipeline.bootstrap, orders, map(order, range(30)))
    assert pipeline.run() is None
    found = values_of(pipeline.spark, pipeline.bootstrap, out)
    assert {(each["since"][11:13], each["shop"]): each["total"] for each in found} == {
        (f"0{hour}", shop): sum(n for n in range(10 * hour, 10 * hour + 10) if n % 2 == odd)
        for hour in (1, 2)
        for shop, odd in (("left", 1), ("right", 0))
    }


def test_a_run_goes_on_where_the_last_one_was(pipeline: Pipeline, topics: Topics) -> None:
    orders, out = topics.create(2), topics.create(2)
    definition(pipeline.file, COPY, orders=orders, out=out, rejected="")
    for start in (0, 10):
        send(pipeline.bootstrap, orders, map(order, range(start, start + 10)))
        assert pipeline.run() is None
        found = values_of(pipeline.spark, pipeline.bootstrap, out)
        assert numbers(found) == list(range(start + 10))


def test_a_row_continues_the_trace_of_its_message(pipeline: Pipeline, topics: Topics) -> None:
    orders, out = topics.create(1), topics.create(1)
    definition(pipeline.file, COPY, orders=orders, out=out, rejected=", traces=True")
    trace = ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    producer = Producer({"bootstrap.servers": pipeline.bootstrap})
    given: list[list[tuple[str, str | bytes | None]]] = [[("a", b"1"), trace], [("a", b"1")], []]
    for number, headers in enumerate(given):
        producer.produce(orders, json.dumps(order(number)), headers=headers)
    producer.flush(TIMEOUT_S)
    assert pipeline.run() is None
    wait_until(lambda: is_committed(pipeline.bootstrap, out))
    copies = Connector(pipeline.spark, pipeline.bootstrap, source="ottla").read(subscribe=out)
    assert [each.message.headers or () for each in copies] == [(trace,), (), ()]


def test_what_does_not_parse_is_set_aside_with_its_reason(
    pipeline: Pipeline, topics: Topics
) -> None:
    orders, out, bad = topics.create(1), topics.create(1), topics.create(1)
    given = f', rejected_to="{bad}"'
    definition(pipeline.file, COPY, orders=orders, out=out, rejected=given)
    values = [order(1), b"{", {"number": 2}, {"shop": "a", "number": "two"}, None, order(3)]
    send(pipeline.bootstrap, orders, values)
    assert pipeline.run() is None
    assert numbers(values_of(pipeline.spark, pipeline.bootstrap, out)) == [1, 3]
    wait_until(lambda: is_committed(pipeline.bootstrap, bad))
    reader = Connector(pipeline.spark, pipeline.bootstrap, source="ottla")
    aside = reader.read(subscribe=bad)
    assert [each.message.value for each in aside] == [
        b"{",
        b'{"number": 2}',
        b'{"shop": "a", "number": "two"}',
        None,
    ]
    headers = [dict(each.message.headers) for each in aside]
    assert [int(each["offset"] or b"") for each in headers] == [1, 2, 3, 4]
    reasons = [(each["reason"] or b"").decode() for each in headers]
    assert [reason.partition(" with ")[0] for reason in reasons] == [
        "is not JSON",
        "has no shop",
        "is not JSON",
        "is null",
    ]


def test_files_and_topics_are_copied_to_each_other(
    pipeline: Pipeline, topics: Topics, tmp_path: Path
) -> None:
    topic = topics.create(1)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1,one\n2,two\n")
    text = """
    @source(Files("<directory>/in", "csv", schema="number int, name string"))
    def lines(rows):
        return rows

    @sink(Topic("<topic>", Csv(), key="name"))
    def to_topic(lines):
        return lines

    @source(Topic("<topic>", Csv("number int, name string")))
    def again(rows):
        return rows.drop("message")

    @sink(Files("<directory>/out", "parquet"))
    def to_files(again):
        return again
    """
    definition(pipeline.file, text, directory=tmp_path, topic=topic)
    assert pipeline.run() is None
    wait_until(lambda: is_committed(pipeline.bootstrap, topic))
    assert pipeline.run() is None
    rows = pipeline.spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(map(tuple, rows)) == [(1, "one"), (2, "two")]
    keys = received(
        pipeline.spark.read.format("ottla")
        .option("kafka.bootstrap.servers", pipeline.bootstrap)
        .options(subscribe=topic, includeHeaders="true")
        .load()
    )
    assert [each.message.key for each in keys] == [b"one", b"two"]


def test_a_table_has_the_latest_value_of_each_key(pipeline: Pipeline, topics: Topics) -> None:
    orders, names, out = topics.create(1), topics.create(1), topics.create(1)
    producer = Producer({"bootstrap.servers": pipeline.bootstrap, "log_level": 0})
    for key, value in [("l", "Old"), ("l", "Left"), ("r", "Right"), ("gone", "x"), ("gone", None)]:
        text = None if value is None else f'{{"shop": "{key}", "name": "{value}"}}'
        producer.produce(names, text, key=key)
    assert producer.flush(30) == 0
    text = """
    @source(Topic("<orders>", Json("shop string, number int")))
    def orders(rows):
        return rows

    @source(Table("<names>", Json("shop string, name string")))
    def shops(rows):
        return rows

    @sink(Topic("<out>", Json()))
    def named():
        return "SELECT number, name FROM orders LEFT JOIN shops USING (shop)"
    """
    definition(pipeline.file, text, orders=orders, names=names, out=out)
    send(
        pipeline.bootstrap,
        orders,
        [{"shop": shop, "number": number} for number, shop in enumerate(("l", "r", "gone"))],
    )
    assert pipeline.run() is None
    found = values_of(pipeline.spark, pipeline.bootstrap, out)
    assert found == [{"number": 0, "name": "Left"}, {"number": 1, "name": "Right"}, {"number": 2}]


def test_mistakes_are_found_before_anything_runs(pipeline: Pipeline, topics: Topics) -> None:
    text = (
        ORDERS
        + """
    @view
    def counted(large):
        return large.groupBy("shop").count()

    @sink(Topic("<out>", Json()))
    def unbounded(counted):
        return counted

    @sink(Topic("<out>", Json(), key="town"))
    def keyed(large):
        return large

    @sink(Topic("nowhere", Json()))
    def wrong_column():
        return "SELECT price FROM large"
"""
    )
    orders, out = topics.create(1), topics.create(1)
    definition(pipeline.file, text, orders=orders, out=out, rejected="")
    queries, mistakes = pipeline.check()
    assert [query.name for query in queries] == ["unbounded", "keyed"]
    assert [*queries[0].parts] == ["orders", "large", "counted"]
    wrong_column, unbounded, keyed, nowhere = mistakes
    assert "wrong_column: [UNRESOLVED_COLUMN" in wrong_column
    assert "`price`" in wrong_column
    assert unbounded.startswith("unbounded: ")
    assert "watermark" in unbounded
    assert keyed.endswith("has the key town, but the rows have shop, number, at")
    assert nowhere.startswith("sink wrong_column: there is no topic nowhere")
    assert not pipeline.checkpoints.exists()
