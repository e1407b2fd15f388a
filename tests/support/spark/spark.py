"""Spark for tests: one small session that knows Spark's own Kafka connector."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ottla.pipeline.running.class_archive import ClassArchive
from ottla.pipeline.running.session import ARROW_OPTIONS, BRIDGE_CONFIGS, JAVA_OPTIONS
from ottla.pipeline.running.spark_home import use_spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[3]
CONNECTOR = ROOT / ".cache" / "spark"
CONNECTOR_VERSION = "4.2.0"
POSTGRESQL_VERSION = "42.7.4"
LOCAL = "local[2]"
CONFIGS = {
    **BRIDGE_CONFIGS,
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    # Two cores, small data: everything that would pay later is left out.
    JAVA_OPTIONS: f"{ARROW_OPTIONS} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
}


def reason_unavailable() -> str | None:
    """Why there is no Spark on this machine, or None where there is."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed: run `make setup`"
    if not (CONNECTOR / f"{CONNECTOR_VERSION}-{POSTGRESQL_VERSION}.ready").exists():
        return f"Spark's Kafka connector is not in {CONNECTOR}: run `make connector`"
    if shutil.which("java") is None:
        return "no java on the PATH: install a JDK (17 or newer)"
    return None


def spark_session(scratch: Path, *, master: str = LOCAL) -> SparkSession:
    """Starts Spark in a process of its own; what it writes goes to `scratch`. `stop` it."""
    from pyspark.sql import SparkSession

    # Workers would take any python3 that is on the PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    use_spark_home()
    # And they find what tests hand to them.
    os.environ["PYTHONPATH"] = str(ROOT)
    builder = SparkSession.builder.master(master).appName("ottla")
    for name, value in CONFIGS.items():
        builder = builder.config(name, value)
    jars = ",".join(str(jar) for jar in sorted((CONNECTOR / "lib").glob("*.jar")))
    builder = builder.config("spark.jars", jars)
    # Quick, where a pipeline was run before.
    archive = ClassArchive.of(Path(shutil.which("java") or "java"))
    options = f"{archive.options} {CONFIGS[JAVA_OPTIONS]}"
    builder = builder.config(JAVA_OPTIONS, options.lstrip())
    builder = builder.config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
    builder = builder.config("spark.local.dir", str(scratch / "local"))
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
