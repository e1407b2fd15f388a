"""`ottla top` shows nodes as they are while they serve, hang, fail and return."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.support.monitoring.monitored_cluster import MetricsPorts
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until
from tests.support.soak import IS_SOAK

OTTLA = str(Path(sys.executable).with_name("ottla"))
SECONDS_MAX = 60.0
SETTINGS = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "200"}


def top(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [OTTLA, "top", "--once", "--interval", "0.3", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)


class LiveTop:
    """The last line of `ottla top --json`, while it runs."""

    def __init__(self, output: Path) -> None:
        self._output = output

    def nodes(self) -> Mapping[int, Mapping[str, Any]]:
        *_, last = ["{}", *self._output.read_text().splitlines(keepends=True)]
        fields = json.loads(last) if last.endswith("}\n") else {}
        return {each["node"]: each for each in fields.get("nodes", ())}

    def wait_state(self, node: int, state: str) -> None:
        what = f"node {node} is shown as {state}"
        wait_until(lambda: self.nodes().get(node, {}).get("state") == state, what)


@contextmanager
def live_top(bootstrap: str, output: Path) -> Iterator[LiveTop]:
    command = [OTTLA, "top", "--json", "--interval", "0.2", "--bootstrap", bootstrap]
    with output.open("w") as file, subprocess.Popen(command, stdout=file) as process:
        try:
            yield LiveTop(output)
        finally:
            process.kill()


def test_nodes_are_shown_as_they_are(tmp_path: Path) -> None:
    cluster = ClusterProcesses(tmp_path, SETTINGS, brokers=(1, 2), controllers=(1,))
    MetricsPorts(cluster)
    # Without metrics.
    cluster.nodes[2].configure({"ottla.metrics.listener": ""})
    with cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_topics([NewTopic("orders", 2, 2)])["orders"].result(SECONDS_MAX)
        producer = Producer({"bootstrap.servers": cluster.bootstrap})
        producer.produce("orders", b"x")
        assert producer.flush(SECONDS_MAX) == 0
        once = top("--bootstrap", cluster.bootstrap)
        assert once.returncode == 0, once.stderr
        assert "2 of 2 nodes serving" in once.stdout
        assert "it serves no metrics" in once.stdout
        with live_top(cluster.bootstrap, tmp_path / "top.json") as shown:
            shown.wait_state(1, "ready")
            shown.wait_state(2, "serving")
            assert shown.nodes()[2]["leads"] + shown.nodes()[1]["leads"] >= 2
            wait_until(lambda: shown.nodes()[1]["requests"] is not None, "there are rates")
            cluster.nodes[2].pause()
            shown.wait_state(2, "no answer")
            shown.wait_state(2, "fenced")
            cluster.nodes[2].resume()
            shown.wait_state(2, "serving")
            cluster.nodes[1].kill()
            # Without a controller, the other broker still lists it.
            shown.wait_state(1, "no metrics")
            assert "connection refused" in shown.nodes()[1]["reason"]
            if IS_SOAK:
                cluster.start([cluster.nodes[1]])
                shown.wait_state(1, "ready")
        cluster.stop()
    nothing = top("--bootstrap", cluster.bootstrap)
    assert nothing.returncode == 3
    assert nothing.stderr.startswith("Nothing answers: ")
