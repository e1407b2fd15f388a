"""`ottla start --workers` with processes of its own: one cluster on one host, from one file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from ottla.runtime.dice import SystemDice
from ottla.runtime.free_ports import free_ports, is_free
from ottla.runtime.system_clock import SystemClock, sleep_blocking
from tests.support.monitoring.scraping import Scrape, get
from tests.support.nodes.nodes import OTTLA

HOST = "127.0.0.1"
WAIT_SECONDS = 60.0
RECORDS = 400


class Workers:
    def __init__(self, home: Path) -> None:
        self.data = home / "data"
        port = _port_with_neighbours()
        self.bootstrap = f"{HOST}:{port}"
        self.metrics = (HOST, port + 50)
        listening = ["--listen", self.bootstrap, "--data-dir", str(self.data)]
        listening += ["--metrics", f"{HOST}:{port + 50}"]
        self.process = subprocess.Popen(
            [OTTLA, "start", *listening, "--workers", "2"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_ready(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("Ready on "):
                return line
        raise AssertionError("the workers ended before they were ready")

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.data / "workers" / "cluster.json").read_text())
        return found

    def wait_restarted(self, node_id: int, killed: int) -> None:
        def is_restarted() -> bool:
            node = next(node for node in self.state["nodes"] if node["id"] == node_id)
            return bool(node["state"] == "ready" and node["pid"] != killed)

        self.wait(is_restarted)

    def wait(self, holds: Callable[[], bool]) -> None:
        clock = SystemClock()
        deadline = clock.monotonic() + WAIT_SECONDS
        while not holds():
            assert clock.monotonic() < deadline, self.state
            sleep_blocking(0.05)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_SECONDS)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    started = Workers(tmp_path)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            assert started.stop() == 0
        assert started.process.stdout is not None
        started.process.stdout.close()


def test_workers_serve_one_cluster_and_a_killed_one_is_restarted(workers: Workers) -> None:
    ready = workers.wait_ready()
    assert ready.count(f"{HOST}:") == 2
    admin = AdminClient({"bootstrap.servers": workers.bootstrap})
    admin.create_topics([NewTopic("orders", 4, 2)])["orders"].result(WAIT_SECONDS)
    assert set(admin.list_topics(timeout=WAIT_SECONDS).brokers) == {1, 1001}
    producer = Producer({"bootstrap.servers": workers.bootstrap})
    for number in range(RECORDS):
        producer.produce("orders", str(number).encode())
        if number == RECORDS // 2:
            pid = next(node["pid"] for node in workers.state["nodes"] if node["id"] == 1001)
            os.kill(pid, signal.SIGKILL)
    assert producer.flush(WAIT_SECONDS) == 0
    workers.wait_restarted(1001, pid)
    workers.wait(lambda: get(workers.metrics, "/readyz").status == 200)
    requests = Scrape.of(workers.metrics).total("ottla_requests_total", api="Produce", worker="0")
    assert requests > 0
    assert _read(workers.bootstrap) == {str(number).encode() for number in range(RECORDS)}


def test_a_second_start_continues_and_a_node_without_workers_is_not_taken(
    workers: Workers, tmp_path: Path
) -> None:
    workers.wait_ready()
    first = workers.state["cluster_id"]
    assert workers.stop() == 0
    again = Workers(tmp_path)
    again.wait_ready()
    assert again.state["cluster_id"] == first
    assert again.stop() == 0
    assert again.process.stdout is not None
    again.process.stdout.close()
    # The directory of a single node must be moved first.
    (again.data / "worker-0" / "meta.properties").rename(again.data / "meta.properties")
    refused = subprocess.run(
        [OTTLA, "start", "--data-dir", str(again.data), "--workers", "2"],
        capture_output=True,
        check=False,
        text=True,
        timeout=WAIT_SECONDS,
    )
    assert refused.returncode == 2
    assert "was started without --workers" in refused.stderr


def _read(bootstrap: str) -> set[bytes]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "readers"})
    consumer.assign([TopicPartition("orders", number, OFFSET_BEGINNING) for number in range(4)])
    found: set[bytes] = set()
    deadline = SystemClock().monotonic() + WAIT_SECONDS
    while len(found) < RECORDS and SystemClock().monotonic() < deadline:
        message = consumer.poll(1.0)
        if message is not None and message.error() is None:
            found.add(message.value() or b"")
    consumer.close()
    return found


def _port_with_neighbours() -> int:
    """A free port such that those of the controller, the second worker and the metrics are, too."""
    while True:
        (port,) = free_ports(SystemDice(), HOST, count=1)
        if all(is_free(HOST, port + above) for above in (1, 50, 100, 150, 250)):
            return port
