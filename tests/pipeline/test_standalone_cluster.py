"""A pipeline on the command line, on a real Spark cluster: the same file, another master."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.topics import Topics
from tests.support.nodes.nodes import OTTLA, RunningNode
from tests.support.soak import IS_SOAK
from tests.support.spark.pipelines import Pipeline, definition, send, values_of
from tests.support.spark.spark_cluster import spark_cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(not IS_SOAK, reason="takes a minute: make pipelines"),
]

RUN_TIMEOUT_S = 300.0
TEXT = """
    @source(Topic("<orders>", Json("shop string, number int, at timestamp")))
    def orders(rows):
        return rows.withWatermark("at", "1 hour")

    @sink(Topic("<out>", Json(), key="shop"), mode="update")
    def totals():
        return '''SELECT window.start AS since, shop, sum(number) AS total
                  FROM orders GROUP BY window(at, '1 hour'), shop'''
"""


def run(file: Path, node: RunningNode, *options: str) -> list[dict[str, Any]]:
    ran = subprocess.run(
        [OTTLA, "pipelines", "run", file, "--once", "--json", "-b", node.bootstrap, *options],
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_a_pipeline_runs_on_a_cluster_by_changing_the_master_alone(
    spark: SparkSession, node: RunningNode, topics: Topics, tmp_path: Path
) -> None:
    orders, out = topics.create(2), topics.create(1)
    file = definition(tmp_path / "shops.py", TEXT, orders=orders, out=out)
    values = [
        {"shop": "left" if n % 2 else "right", "number": n, "at": f"2026-01-01T0{n // 100}:00:00Z"}
        for n in range(900)
    ]
    send(node.bootstrap, orders, values[:450])
    local = Pipeline(file, spark, node.bootstrap, file.with_suffix(".checkpoints"))
    assert local.run() is None
    send(node.bootstrap, orders, values[450:])
    with spark_cluster(tmp_path, workers=2) as master:
        progress = run(file, node, "--master", master)
    assert sum(each["rows"] for each in progress) == 450
    assert progress[-1]["lag"] == 0
    executors = list(tmp_path.glob("worker-*/app-*/*"))
    assert {path.parts[-3] for path in executors} == {"worker-0", "worker-1"}

    totals: dict[tuple[str, str], int] = {}
    for each in values_of(spark, node.bootstrap, out):
        place = (each["since"], each["shop"])
        totals[place] = max(totals.get(place, 0), each["total"])
    assert sorted(totals.values()) == sorted(
        sum(n for n in range(100 * hour, 100 * hour + 100) if n % 2 == odd)
        for hour in range(9)
        for odd in (0, 1)
    )
