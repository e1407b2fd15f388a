"""A Spark standalone cluster on this machine, from the PySpark distribution."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from ottla.pipeline.running.session import JAVA_OPTIONS
from tests.support.spark.spark import CONFIGS, ROOT

READY_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 30.0
_SHORT_LIVED = CONFIGS[JAVA_OPTIONS]


@contextmanager
def spark_cluster(scratch: Path, *, workers: int) -> Iterator[str]:
    """The URL of the master, once all workers are with it."""
    with ExitStack() as stack:
        master = stack.enter_context(
            _Daemon(scratch / "master.txt", "master.Master", "--port", "0")
        )
        url = master.wait_line(r"Starting Spark master at (spark://\S+)")
        for number in range(workers):
            log = scratch / f"worker-{number}.txt"
            options = ["--cores", "1", "--memory", "1g", "--work-dir", str(scratch / log.stem)]
            worker = stack.enter_context(_Daemon(log, "worker.Worker", *options, url))
            worker.wait_line("Successfully registered with master")
        yield url


def executors(scratch: Path) -> list[int]:
    """The processes in which workers of that cluster run tasks, by the folders they work in."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            directory = (process / "cwd").readlink()
            is_java = (process / "comm").read_text().strip() == "java"
            if is_java and directory.is_relative_to(scratch) and "app-" in directory.parent.name:
                found.append(int(process.name))
    return sorted(found)


class _Daemon:
    """A process with a log. It is waited for by its words."""

    def __init__(self, log: Path, name: str, *arguments: str) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": _SHORT_LIVED,
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
            # Executors find what tests hand to them.
            "PYTHONPATH": str(ROOT),
        }
        web = ["--host", "127.0.0.1", "--webui-port", "0"]
        self._log = log
        self._process = subprocess.Popen(
            [
                str(home / "bin" / "spark-class"),
                f"org.apache.spark.deploy.{name}",
                *web,
                *arguments,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self._lines: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._log.open("w") as log:
            for line in self._process.stderr:
                log.write(line)
                with self._more:
                    self._lines.append(line)
                    self._more.notify_all()

    def wait_line(self, pattern: str) -> str:
        """The pattern's group, or all of it."""
        found: list[str] = []

        def is_there() -> bool:
            found.extend(
                match[match.re.groups]
                for line in self._lines
                if (match := re.search(pattern, line))
            )
            return bool(found)

        with self._more:
            assert self._more.wait_for(is_there, READY_TIMEOUT_S), "".join(self._lines)
        return found[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.terminate()
        self._process.wait(STOP_TIMEOUT_S)
        self._reader.join()
        assert self._process.stderr is not None
        self._process.stderr.close()
