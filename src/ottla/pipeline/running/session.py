"""Starts Spark for a pipeline: locally, or at the master that the user names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from ottla.pipeline.running import spark_log
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
    # A query that does not stop in this time is ended with its Java; its batch is repeated.
    "spark.sql.streaming.stopTimeout": "20s",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOCAL_CONFIGS: Final = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
# Java removes Spark's scratch directories before it ends.
_JAVA_END_S: Final = 10.0


def start_session(
    name: str,
    *,
    master: str,
    configs: Mapping[str, str],
    java_options: str = "",
    log: Path | None = None,
    inherited: Sequence[int] = (),
) -> SparkSession:
    """Starts a session; the caller stops it. The user's configs override the defaults here.

    Java runs in a session of its own, so that signals to the process group of the pipeline do not
    end it in the middle of a batch. `log` takes what Spark and Java print; without it that goes to
    standard error. Java inherits the file descriptors `inherited`.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    # By default workers run the first python3 on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    use_spark_home()
    if log is not None:
        java_options = f"{java_options} {spark_log.java_options(log)}"
    conf = SparkConf().setMaster(master).setAppName(name)
    for key, value in _settings(master, configs, java_options).items():
        conf = conf.set(key, value)
    spark_log.divert_python(log)
    gateway = _launched(conf, log, inherited)
    try:
        context = SparkContext(conf=conf, gateway=gateway)
    except BaseException:
        _end(gateway.proc)
        raise
    session: SparkSession = SparkSession.builder.getOrCreate()
    if log is None:
        context.setLogLevel("WARN")
    return session


def _launched(conf: Any, log: Path | None, inherited: Sequence[int]) -> Any:
    """The bridge to a new Java process."""
    from pyspark import java_gateway

    processes: list[subprocess.Popen[bytes]] = []

    def popen(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        # Interrupted in here, it would start a process and not say which.
        with _uninterrupted():
            processes.append(subprocess.Popen(command, **options))  # noqa: S603 - Spark's own
        return processes[-1]

    output = None if log is None else log.open("ab")
    options = {
        "stdout": output,
        "stderr": output,
        "start_new_session": True,
        "pass_fds": tuple(inherited),
    }
    try:
        # A Java process whose start is interrupted does not end by itself: end it here.
        with _patched(java_gateway, "Popen", popen):
            return java_gateway.launch_gateway(conf, options)  # type: ignore[no-untyped-call]
    except BaseException:
        for process in processes:
            _end(process)
        raise
    finally:
        if output is not None:
            output.close()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Signals are handled at the end. In the main thread only, which gets them."""
    if current_thread() is not main_thread():
        yield
        return
    noted: list[tuple[int, FrameType | None]] = []
    before = {
        number: signal.signal(number, lambda *taken: noted.append(taken))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number_taken, _ in noted:
            signal.raise_signal(number_taken)


@contextmanager
def _patched(module: Any, name: str, value: object) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def end_java() -> None:
    """Ends the Java of this process, whatever it does. Nothing can use Spark afterwards."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway  # noqa: SLF001 - the process is nowhere else
    if gateway is not None:
        _end(gateway.proc)


def kill_java() -> None:
    """At once. Any thread may call it."""
    context = sys.modules.get("pyspark")
    gateway: Any = None if context is None else context.SparkContext._gateway  # noqa: SLF001
    if gateway is not None:
        with suppress(ProcessLookupError):
            os.killpg(gateway.proc.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_JAVA_END_S)
            return


def _settings(master: str, configs: Mapping[str, str], java_options: str) -> dict[str, str]:
    settings = _CONFIGS | BRIDGE_CONFIGS | (_LOCAL_CONFIGS if master.startswith("local") else {})
    settings[JAVA_OPTIONS] += f" {java_options}"
    for key, value in configs.items():
        # If a Java option is given twice, the last one is used.
        settings[key] = f"{settings[key]} {value}" if key in _JAVA_OPTIONS else value
    return settings
