"""Spark, started for a pipeline: in this process, or at the master that the user names."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL: Final = "local[*]"
JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
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
    wanted = _CONFIGS | (_LOCAL_CONFIGS if master.startswith("local") else {}) | dict(configs)
    if java_options:
        wanted[JAVA_OPTIONS] = f"{java_options} {wanted.get(JAVA_OPTIONS, '')}".rstrip()
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in wanted.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
