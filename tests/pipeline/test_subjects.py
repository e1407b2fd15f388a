"""Avro by subject in Spark: versions read, the latest one written, the rest set aside."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ottla.client.schemas import AvroSerializer, SchemaDeserializer, SchemaRegistryClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.registry.registry_processes import running_registries
from tests.support.spark.pipelines import Pipeline, definition, is_committed, send, wait_until
from tests.support.spark.spark_messages import Connector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("fastavro", reason="the package fastavro is not installed: run `make setup`")
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

OLD = {"type": "record", "name": "Order", "fields": [{"name": "number", "type": "int"}]}
NEW = {
    **OLD,
    "fields": [
        {"name": "number", "type": "long"},
        {"name": "shop", "type": "string", "default": "none"},
    ],
}
TEXT = """
    @source(Topic("<orders>", Avro(subject="orders", registry="<url>"), rejected_to="<bad>"))
    def orders(rows):
        return rows

    @sink(Topic("<out>", Avro(subject="orders", registry="<url>")))
    def moved():
        return "SELECT number + 1 AS number, shop FROM orders"
"""


def test_avro_by_subject_is_read_and_written(
    spark: SparkSession, node: RunningNode, topics: Topics, tmp_path: Path
) -> None:
    orders, out, bad = (topics.create(1) for _ in range(3))
    with running_registries(node.bootstrap, 1) as (process,):
        registry = SchemaRegistryClient(process.url)

        async def written() -> list[bytes]:
            values = []
            for schema, row in ((OLD, {"number": 1}), (NEW, {"number": 2, "shop": "x"})):
                known = await registry.register("orders", json.dumps(schema), "AVRO")
                serializer = AvroSerializer(registry, json.dumps(schema), registers=True)
                value = await serializer.serialize("any", row)
                assert value is not None
                assert value[1:5] == known.id.to_bytes(4, "big")
                values.append(value)
            return values

        values = asyncio.run(written())
        send(node.bootstrap, orders, [values[0], b"plain", values[1], values[1][:-1]])
        pipeline = Pipeline(tmp_path / "moved.py", spark, node.bootstrap, tmp_path / "checkpoints")
        names = {"orders": orders, "out": out, "bad": bad, "url": process.url}
        definition(pipeline.file, TEXT, **names)
        assert pipeline.run() is None
        for topic in (out, bad):
            wait_until(lambda topic=topic: is_committed(node.bootstrap, topic))  # type: ignore[misc]
        reader = Connector(spark, node.bootstrap, source="ottla")

        async def moved() -> list[object]:
            found = [each.message.value for each in reader.read(subscribe=out)]
            return [await SchemaDeserializer(registry).deserialize(each) for each in found]

        assert asyncio.run(moved()) == [{"number": 2, "shop": "none"}, {"number": 3, "shop": "x"}]
        reasons = [dict(each.message.headers)["reason"] for each in reader.read(subscribe=bad)]
        assert reasons == [
            b"does not begin with the id of a schema",
            b"is not an Avro record Order: its field shop cannot be read",
        ]
