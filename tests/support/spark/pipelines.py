"""Pipelines for tests: a definition in a file, run in the session that tests share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer

from ottla.pipeline.reading.cluster import SourceCluster
from ottla.pipeline.reading.data_source import with_cluster
from ottla.pipeline.reading.options import parse_options
from ottla.pipeline.reading.positions import LATEST
from ottla.pipeline.reading.topics import (
    READ_COMMITTED,
    READ_UNCOMMITTED,
    find_partitions,
    list_offsets,
)
from ottla.pipeline.running.checking import check
from ottla.pipeline.running.failures import Failure
from ottla.pipeline.running.graph import Graph, Query
from ottla.pipeline.running.loading import load
from ottla.pipeline.running.queries import RunningQueries
from ottla.runtime.system_clock import SystemClock, sleep_blocking

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FLUSH_TIMEOUT_S = 30.0
END_TIMEOUT_S = 120.0
_HEADING = """\
from ottla.pipeline import *

"""


def definition(path: Path, text: str, **names: object) -> Path:
    """Writes a module; `names` fill what is in angle brackets."""
    body = dedent(text)
    for name, value in names.items():
        body = body.replace(f"<{name}>", str(value))
    path.write_text(_HEADING + body)
    return path


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A definition, a session and a node."""

    file: Path
    spark: SparkSession
    bootstrap: str
    checkpoints: Path

    def check(self) -> tuple[list[Query], list[str]]:
        registry = load(self.file)
        graph = Graph(registry, self.spark, pipeline=self.file.stem, bootstrap=self.bootstrap)
        return check(graph, registry, self.spark)

    def start(self, *, once: bool = True) -> RunningQueries:
        queries, mistakes = self.check()
        assert not mistakes, mistakes
        return RunningQueries(queries, checkpoints=self.checkpoints, once=once)

    def run(self) -> Failure | None:
        """All that is there, to the end or to a failure."""
        running = self.start()
        try:
            return ended(running)
        finally:
            running.stop()


def ended(running: RunningQueries) -> Failure | None:
    """Waits until they have ended, all of them or one by a failure."""
    failures: list[Failure | None] = []

    def has_ended() -> bool:
        # In this order: what ends in between is looked at in the next round.
        is_active = running.is_active
        failures.append(running.failure())
        return failures[-1] is not None or not (is_active or running.is_active)

    wait_until(has_ended)
    return failures[-1]


def wait_until(is_true: Callable[[], bool]) -> None:
    clock = SystemClock()
    deadline = clock.monotonic() + END_TIMEOUT_S
    while not is_true():
        assert clock.monotonic() < deadline
        sleep_blocking(0.05)


def send(bootstrap: str, topic: str, values: Iterable[bytes | Mapping[str, Any] | None]) -> None:
    """Mappings as JSON."""
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for value in values:
        producer.produce(topic, json.dumps(value).encode() if isinstance(value, Mapping) else value)
    assert producer.flush(FLUSH_TIMEOUT_S) == 0


def values_of(spark: SparkSession, bootstrap: str, topic: str) -> list[dict[str, Any]]:
    """JSON, in the order of their text."""
    wait_until(lambda: is_committed(bootstrap, topic))
    reader = spark.read.format("ottla").option("kafka.bootstrap.servers", bootstrap)
    rows = reader.option("subscribe", topic).load().collect()
    return [json.loads(text) for text in sorted(bytes(row.value).decode() for row in rows)]


def is_committed(bootstrap: str, topic: str) -> bool:
    """Whether nothing is hidden by a transaction. Its producer gets the response a moment before
    its markers are in the logs."""
    given = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic}
    options = parse_options(given, is_streaming=False)

    async def operation(cluster: SourceCluster) -> bool:
        found = await find_partitions(cluster, options.subscription)
        ends = dict.fromkeys(found, LATEST)
        stable = await list_offsets(cluster, ends, isolation=READ_COMMITTED)
        return stable == await list_offsets(cluster, ends, isolation=READ_UNCOMMITTED)

    return with_cluster(options, operation)


def numbers(values: Sequence[Mapping[str, Any]], name: str = "number") -> list[int]:
    return sorted(value[name] for value in values)
