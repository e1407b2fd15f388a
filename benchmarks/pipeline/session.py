"""A Spark session as one would run it, with both connectors in it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ottla.pipeline.running.session import BRIDGE_CONFIGS
from ottla.pipeline.running.spark_home import use_spark_home
from tests.support.spark.spark import CONNECTOR

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONFIGS = {
    # As in sessions that Ottla starts. Spark's own connector has nothing to do with Python.
    **BRIDGE_CONFIGS,
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextlib.contextmanager
def session(scratch: Path) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    use_spark_home()
    builder = SparkSession.builder.master("local[2]").appName("ottla-bench")
    for name, value in CONFIGS.items():
        builder = builder.config(name, value)
    jars = ",".join(str(jar) for jar in sorted((CONNECTOR / "lib").glob("*.jar")))
    builder = builder.config("spark.jars", jars)
    builder = builder.config("spark.local.dir", str(scratch / "local"))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def largest_worker_bytes(spark: SparkSession) -> int:
    """The most that one of the session's Python workers has had, of those that are there."""
    gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - there is no public way to the process
    return max(map(_peak_bytes, _descendants(gateway.proc.pid)), default=0)


def _descendants(pid: int) -> Iterator[int]:
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                yield child
                yield from _descendants(child)


def _peak_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        if "python" in Path(f"/proc/{pid}/comm").read_text():
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    return 0
