"""Spark, started for a pipeline: in this process, or at the master that the user names."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ottla.pipeline.running.spark_home import use_spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL: Final = "local[*]"
JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
EXECUTOR_JAVA_OPTIONS: Final = "spark.executor.extraJavaOptions"
_JAVA_OPTIONS: Final = (JAVA_OPTIONS, EXECUTOR_JAVA_OPTIONS)
# Rows come from Python and go there as Arrow, of which Java by default looks again, for every
# value, at what Spark has asked before: whether it is within its vector, and whether it is null.
ARROW_OPTIONS: Final = (
    "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
)
# What makes the way between Spark and Python shorter, for a session of anybody's.
BRIDGE_CONFIGS: Final = {
    JAVA_OPTIONS: ARROW_OPTIONS,
    EXECUTOR_JAVA_OPTIONS: ARROW_OPTIONS,
    # In place of connections over the loopback interface.
    "spark.python.unix.domain.socket.enabled": "true",
}
_CONFIGS: Final = {
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # State is kept per partition; two hundred, Spark's default, is for clusters.
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOCAL_CONFIGS: Final = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def start_session(
    name: str, *, master: str, configs: Mapping[str, str], java_options: str = ""
) -> SparkSession:
    """`stop` it. What the user says goes before what is said here."""
    from pyspark.sql import SparkSession

    # Workers would take any python3 that is on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    use_spark_home()
    wanted = _CONFIGS | BRIDGE_CONFIGS | (_LOCAL_CONFIGS if master.startswith("local") else {})
    wanted[JAVA_OPTIONS] += f" {java_options}"
    for key, value in configs.items():
        # Of what is said twice among Java's options, the last counts.
        wanted[key] = f"{wanted[key]} {value}" if key in _JAVA_OPTIONS else value
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in wanted.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
