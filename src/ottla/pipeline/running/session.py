"""Starts Spark for a pipeline: locally, or at the master that the user names."""

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
# Rows pass between Python and Java as Arrow. By default Arrow's Java library repeats, for every
# value, bounds and null checks that Spark has already made.
ARROW_OPTIONS: Final = (
    "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
)
# Settings for faster transfer between Spark and Python, useful in any session.
BRIDGE_CONFIGS: Final = {
    JAVA_OPTIONS: ARROW_OPTIONS,
    EXECUTOR_JAVA_OPTIONS: ARROW_OPTIONS,
    # Instead of TCP connections over the loopback interface.
    "spark.python.unix.domain.socket.enabled": "true",
}
_CONFIGS: Final = {
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Each partition has its own state store; Spark's default of 200 is for clusters.
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
    """Starts a session; the caller stops it. The user's configs override the defaults here."""
    from pyspark.sql import SparkSession

    # By default workers run the first python3 on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    use_spark_home()
    settings = _CONFIGS | BRIDGE_CONFIGS | (_LOCAL_CONFIGS if master.startswith("local") else {})
    settings[JAVA_OPTIONS] += f" {java_options}"
    for key, value in configs.items():
        # If a Java option is given twice, the last one is used.
        settings[key] = f"{settings[key]} {value}" if key in _JAVA_OPTIONS else value
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
