"""Signals to a pipeline's process, or to its whole group, in each phase: it ends as documented and
without a traceback, and the next run writes each row exactly once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.testing import Cluster
from tests.support.nodes.nodes import OTTLA
from tests.support.soak import IS_SOAK
from tests.support.spark.pipelines import definition, numbers, send, wait_until
from tests.support.spark.spark import reason_unavailable
from tests.support.spark.spark_sink import read

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(not IS_SOAK, reason="takes two minutes: make pipelines"),
]

TEXT = """
    from pathlib import Path

    from pyspark.sql.functions import udf

    HERE = Path("<here>")


    def slow(number):
        (HERE / "batch").touch()
        while (HERE / "hold").exists():
            pass
        return number


    @source(Topic("orders", Json("number int")))
    def orders(rows):
        (HERE / "planning").touch()
        return rows

    @sink(Topic("copies", Json()))
    def copied(orders):
        return orders.select(udf(slow, "int")("number").alias("number"))
"""
END_TIMEOUT_S = 180.0
STOPPED = "Stopped; the next run continues from here."
NOT_STARTED = "Stopped before the first batch."
# The phase, the signal, whether it is sent to the group, and how the process ends.
PHASES = (
    ("starting", signal.SIGINT, True, 0, NOT_STARTED),
    ("planning", signal.SIGTERM, True, 0, NOT_STARTED),
    ("batch", signal.SIGKILL, True, -9, ""),
    ("batch", signal.SIGTERM, True, 0, STOPPED),
    ("batch", signal.SIGINT, False, 0, STOPPED),
)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    if reason := reason_unavailable():
        pytest.skip(reason)
    with Cluster() as cluster:
        for topic in ("orders", "copies"):
            cluster.create_topic(topic)
        yield cluster


class Running:
    """A pipeline in a process group of its own."""

    def __init__(self, cluster: Cluster, directory: Path, *options: str) -> None:
        file = definition(directory / "copied.py", TEXT, here=directory)
        self.directory = directory
        self.output = directory / f"output{len(list(directory.glob('output*')))}.txt"
        # It is there when Java is about to start.
        self.log = directory / "copied.checkpoints" / "spark.log"
        command = [str(OTTLA), "pipelines", "run", str(file), "-b", cluster.bootstrap, *options]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command, stdout=output, stderr=output, start_new_session=True
            )

    def wait_phase(self, phase: str) -> None:
        def is_there() -> bool:
            assert self.process.poll() is None, self.output.read_text()
            return (self.directory / phase).exists() or (phase == "starting" and self.log.exists())

        wait_until(is_there)

    def end(self) -> tuple[int, str]:
        return self.process.wait(END_TIMEOUT_S), self.output.read_text()


def test_a_signal_ends_a_pipeline_in_each_phase_and_each_row_is_written_once(
    cluster: Cluster, tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    send(cluster.bootstrap, "orders", [{"number": number} for number in range(10)])
    for phase, sent, to_group, code, last in PHASES:
        (tmp_path / phase).unlink(missing_ok=True)
        running = Running(cluster, tmp_path)
        running.wait_phase(phase)
        if phase == "batch":
            assert_second_run_is_refused(cluster, tmp_path, running)
        (os.killpg if to_group else os.kill)(running.process.pid, sent)
        found, output = running.end()
        assert found == code, output
        assert last in output
        assert "Traceback" not in output
    hold.unlink()
    code, output = Running(cluster, tmp_path, "--once").end()
    assert code == 0, output
    found_values = [
        json.loads(each.value() or b"") for each in read(cluster.bootstrap, "copies", count=10)
    ]
    assert numbers(found_values) == list(range(10))


def assert_second_run_is_refused(cluster: Cluster, directory: Path, running: Running) -> None:
    code, output = Running(cluster, directory).end()
    assert code == 1
    assert output.startswith(f"The checkpoints in {directory}/copied.checkpoints are in use")
    assert f"in process {running.process.pid} on host" in output
