"""`ottla pipelines run` in a process of its own: it reports progress, and stops on a signal."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from ottla.testing import Cluster
from tests.support.monitoring.otlp_collector import OtlpCollector
from tests.support.nodes.nodes import OTTLA
from tests.support.soak import IS_SOAK
from tests.support.spark.pipelines import definition, send
from tests.support.spark.spark import reason_unavailable
from tests.support.spark.spark_sink import read

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(not IS_SOAK, reason="takes a minute: make pipelines"),
]

TEXT = """
    @source(Topic("orders", Json("number int")))
    def orders(rows):
        return rows

    @sink(Topic("copies", Json()))
    def copied(orders):
        return orders
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=["interrupted", "terminated"])
def test_a_pipeline_stops_on_a_signal_and_resumes_where_it_was(
    tmp_path: Path, sent: signal.Signals
) -> None:
    if reason := reason_unavailable():
        pytest.skip(reason)
    file = definition(tmp_path / "copy.py", TEXT)
    with Cluster() as cluster:
        cluster.create_topic("orders", partitions=2)
        cluster.create_topic("copies")
        for count in (100, 200):
            send(cluster.bootstrap, "orders", [{"number": number} for number in range(100)])
            run_one_batch(file, cluster.bootstrap, sent)
            assert len(read(cluster.bootstrap, "copies", count=count)) == count


def run_one_batch(file: Path, bootstrap: str, sent: signal.Signals) -> None:
    command = [str(OTTLA), "pipelines", "run", str(file), "-b", bootstrap, "--metrics-port", "0"]
    with (
        OtlpCollector("/v1/traces") as collector,
        subprocess.Popen(
            [*command, f"--otlp-endpoint={collector.endpoint}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        port, lines = "", []
        for line in process.stdout:
            lines.append(line)
            if found := re.search(r"http://127.0.0.1:(\d+)/metrics", line):
                port = found[1]
            if line.startswith("copied: batch ") and ", rows 100, " in line:
                with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                    assert b'ottla_pipeline_rows_total{query="copied"} 100\n' in answer.read()
                process.send_signal(sent)
        process.wait()
        assert [each.span.name for each in collector.spans()] == ["batch copied"]
    assert process.returncode == 0, lines
    assert lines[-1] == "Stopped; the next run continues from here.\n"
