"""Reading, writing, and a windowed aggregation from topic to topic."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figure import Figure
from benchmarks.pipeline.session import largest_worker_bytes, session
from benchmarks.pipeline.sides import Side, ours, theirs
from benchmarks.versus.comparison import Bound, Report, alternate, compared
from benchmarks.versus.servers import OttlaServer, fresh
from benchmarks.versus.wire_client import create_topics, delete_topic
from tests.support.spark.spark import reason_unavailable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

PARTITIONS = 2
KEYS = 5_000
VALUE_BYTES = 200
ROUNDS = 3
# A JVM compiles what it runs often. Most of that is behind both connectors after so many rows:
# with less of them both are a third slower, and uneven.
WARM_UP_ROWS = 8_000_000
QUICK_ROWS = (1_000_000,)
FULL_ROWS = (1_000_000, 10_000_000)
MILLION = 1_000_000
WORKER_MB_MAX = 1_024
SOURCE = Bound(ratio_min=1.5)
SINK = Bound(ratio_min=1.0)
WINDOW = Bound(ratio_min=1.2)

_numbers = itertools.count()


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures figure by figure; `note` is called with what this machine lacks."""
    if reason := reason_unavailable():
        note(f"the pipeline is not measured: {reason}")
        return
    with fresh(OttlaServer) as server, session(server.scratch) as spark:
        report("starting a node")
        server.start()
        sides = [ours(spark, server.address), theirs(spark, server.address)]
        for rows in QUICK_ROWS if quick else FULL_ROWS:
            report(f"loading {rows:,} rows")
            topic, files = _load(sides[1], rows, server.scratch)
            yield from _figures(sides, rows, topic, files, server.scratch, report)
            worker_mb = largest_worker_bytes(spark) / MILLION
            yield Figure(
                f"largest Python worker after {rows:,} rows",
                worker_mb,
                "MB",
                bound=f"< {WORKER_MB_MAX} MB",
                holds=worker_mb < WORKER_MB_MAX,
            )


def _load(side: Side, rows: int, scratch: Path) -> tuple[str, Path]:
    """The same rows in a topic and in files."""
    topic, files = f"rows-{rows}", scratch / f"rows-{rows}"
    create_topics(side.bootstrap, [topic], partitions=PARTITIONS)
    frame = _rows(side.spark, rows)
    frame.write.parquet(str(files))
    frame.write.format(side.format).options(**side.writing, topic=topic).save()
    return topic, files


def _rows(spark: SparkSession, rows: int) -> DataFrame:
    return spark.range(0, rows, numPartitions=PARTITIONS).selectExpr(
        f"CAST(string(id % {KEYS}) AS BINARY) AS key",
        f"CAST(rpad(string(id), {VALUE_BYTES}, sha1(string(id))) AS BINARY) AS value",
    )


def _figures(
    sides: Sequence[Side], rows: int, topic: str, files: Path, scratch: Path, report: Report
) -> Iterator[Figure]:
    def read(side: Side) -> float:
        started = time.perf_counter()
        side.batch(topic).write.format("noop").mode("overwrite").save()
        return rows / (time.perf_counter() - started)

    def write(side: Side) -> float:
        schema = "key binary, value binary"
        frame = side.spark.readStream.schema(schema).parquet(str(files))
        return rows / _stream(side, frame, scratch)

    def aggregate(side: Side) -> float:
        columns = "key binary, timestamp timestamp NOT NULL"
        timed = side.stream(topic, columns).withWatermark("timestamp", "1 second")
        counts = timed.groupBy("key", _window()).count()
        values = counts.selectExpr("key", "CAST(string(count) AS BINARY) AS value")
        return rows / _stream(side, values, scratch)

    measured = (
        ("source, topic to nothing", read, SOURCE),
        ("sink, files to topic, exactly once", write, SINK),
        ("topic to windows to topic, exactly once", aggregate, WINDOW),
    )
    for what, once, bound in measured:
        name = f"{what}, {rows:,} rows"
        warm_ups = max(1, WARM_UP_ROWS // rows)
        alternate(sides, once, rounds=warm_ups, what=f"warming up: {name}", report=report)
        samples = alternate(sides, once, rounds=ROUNDS, what=name, report=report)
        yield compared(name, "rows/s", samples, float, bound)


def _window() -> Column:
    from pyspark.sql import functions as f

    return f.window("timestamp", "1 second")


def _stream(side: Side, frame: DataFrame, scratch: Path) -> float:
    """The seconds that Spark spent in batches, without those in which it starts a query."""
    number = next(_numbers)
    target = f"out-{number}"
    create_topics(side.bootstrap, [target], partitions=PARTITIONS)
    writer = frame.writeStream.format(side.format).options(**side.writing, topic=target)
    writer = writer.option("checkpointLocation", str(scratch / f"check-{number}"))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    delete_topic(side.bootstrap, target)
    return sum(float(each["batchDuration"]) for each in query.recentProgress) / 1_000
