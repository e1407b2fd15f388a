"""Plain Avro from topic to topic, and what is none set aside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ottla.pipeline.definitions.avro_columns import write_record
from ottla.pipeline.definitions.avro_schema import parse_record
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.spark.pipelines import Pipeline, definition, is_committed, send, wait_until
from tests.support.spark.spark_messages import Connector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("fastavro", reason="the package fastavro is not installed: run `make setup`")
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "number", "type": "int"},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
            {"name": "shop", "type": ["null", "string"], "default": None},
        ],
    }
)
TEXT = """
    ORDER = '''<schema>'''

    @source(Topic("<orders>", Avro(ORDER), rejected_to="<bad>"))
    def orders(rows):
        return rows

    @sink(Topic("<out>", Avro(ORDER)))
    def moved():
        return "SELECT number + 1 AS number, at + INTERVAL 1 HOUR AS at, shop FROM orders"
"""


def test_avro_is_read_and_written_and_what_is_none_is_set_aside(
    spark: SparkSession, node: RunningNode, topics: Topics, tmp_path: Path
) -> None:
    orders, out, bad = (topics.create(1) for _ in range(3))
    pipeline = Pipeline(tmp_path / "moved.py", spark, node.bootstrap, tmp_path / "checkpoints")
    definition(pipeline.file, TEXT, schema=SCHEMA, orders=orders, out=out, bad=bad)
    record = parse_record(SCHEMA)
    hour_us = 3_600_000_000
    good, expected = (
        [
            write_record({"number": number, "at": number * hour_us, "shop": shop}, record)
            for number, shop in ((first, "left"), (first + 1, None))
        ]
        for first in (1, 2)
    )
    send(node.bootstrap, orders, [good[0], b"\x02", None, good[1] + b"x", good[1]])
    assert pipeline.run() is None
    for topic in (out, bad):
        wait_until(lambda topic=topic: is_committed(node.bootstrap, topic))  # type: ignore[misc]
    reader = Connector(spark, node.bootstrap, source="ottla")
    moved = [each.message.value for each in reader.read(subscribe=out)]
    assert moved == expected
    aside = reader.read(subscribe=bad)
    assert [each.message.value for each in aside] == [b"\x02", None, good[1] + b"x"]
    reasons = [dict(each.message.headers)["reason"] for each in aside]
    assert reasons == [
        b"is not an Avro record Order: EOFError",
        b"is null",
        b"is not an Avro record Order: 1 bytes are left",
    ]
