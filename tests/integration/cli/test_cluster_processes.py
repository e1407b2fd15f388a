"""`ottla cluster` with processes of its own: up, killed, restarted, down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ottla.cli.main import make_app
from ottla.runtime.system_clock import SystemClock, sleep_blocking
from tests.support.nodes.nodes import OTTLA

WAIT_SECONDS = 60.0


class ClusterCommand:
    """`ottla cluster` over one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def run(self, *arguments: str, exit_code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [OTTLA, "cluster", *arguments, "--data-dir", str(self.directory)],
            capture_output=True,
            check=False,
            text=True,
            timeout=WAIT_SECONDS * 2,
        )
        assert done.returncode == exit_code, done.stdout + done.stderr
        return done

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.directory / "cluster.json").read_text())
        return found

    def pid(self, node_id: int) -> int | None:
        pid: int | None = self.state["nodes"][node_id - 1]["pid"]
        return pid

    def wait(self, holds: Callable[[], bool]) -> None:
        clock = SystemClock()
        deadline = clock.monotonic() + WAIT_SECONDS
        while not holds():
            assert clock.monotonic() < deadline, self.state
            sleep_blocking(0.05)

    @property
    def is_well(self) -> bool:
        # In this process, because it is asked again and again.
        arguments = ["cluster", "status", "--data-dir", str(self.directory)]
        return CliRunner().invoke(make_app("cluster"), arguments).exit_code == 0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterCommand]:
    command = ClusterCommand(tmp_path_factory.mktemp("cluster"))
    up = command.run("up", "--nodes", "3", "--listen", "127.0.0.1:0", "--detach")
    assert up.stdout.startswith("Ready on 127.0.0.1:")
    try:
        yield command
    finally:
        command.run("down")
        assert all(node["pid"] is None for node in command.state["nodes"])


def test_a_node_that_was_killed_stays_down_until_it_is_restarted(cluster: ClusterCommand) -> None:
    assert "node 2 killed" in cluster.run("kill", "2").stdout
    assert cluster.pid(2) is None
    assert "is not running" in cluster.run("kill", "2", exit_code=1).stderr
    assert "stopped" in cluster.run("status", exit_code=1).stdout
    assert "node 2 restarted" in cluster.run("restart", "2").stdout
    cluster.wait(lambda: cluster.is_well)


def test_a_node_that_died_is_started_again(cluster: ClusterCommand) -> None:
    pid = cluster.pid(3)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    cluster.wait(lambda: cluster.pid(3) not in (pid, None))
    cluster.wait(lambda: cluster.is_well)


def test_a_paused_node_goes_on(cluster: ClusterCommand) -> None:
    pid = cluster.pid(1)
    cluster.run("kill", "1", "--signal", "STOP")
    assert f"{pid} paused" in cluster.run("status", exit_code=1).stdout
    cluster.run("kill", "1", "--signal", "cont")
    cluster.wait(lambda: cluster.is_well)
    assert cluster.pid(1) == pid


def test_a_node_is_stopped_in_order(cluster: ClusterCommand) -> None:
    assert "node 1 stopped" in cluster.run("stop", "1").stdout
    cluster.run("restart", "1")
    cluster.wait(lambda: cluster.is_well)
    cluster.run("status")


def test_wrong_usage_says_what_is_wrong(cluster: ClusterCommand, tmp_path: Path) -> None:
    assert "its nodes are 1, 2, 3" in cluster.run("kill", "9", exit_code=2).stderr
    assert "choose one of" in cluster.run("kill", "1", "--signal", "HUP", exit_code=2).stderr
    assert "is up already" in cluster.run("up", exit_code=1).stderr
    assert "it has 3 nodes" in cluster.run("up", "--nodes", "2", exit_code=2).stderr
    assert "There is no cluster" in ClusterCommand(tmp_path).run("down", exit_code=2).stderr


def test_a_killed_node_is_started_by_the_next_up_and_not_by_the_running_one(
    tmp_path: Path,
) -> None:
    command = ClusterCommand(tmp_path / "cluster")
    command.run("up", "--nodes", "1", "--listen", "127.0.0.1:0", "--restart", "--detach")
    try:
        assert "node 1 killed" in command.run("kill", "1").stdout
        log = (command.directory / "supervisor.log").read_text()
        assert "was killed by SIGKILL; `ottla cluster restart 1` starts it again" in log
        assert command.pid(1) is None
        command.run("down")
        command.run("up", "--detach")
        assert command.pid(1) is not None
    finally:
        command.run("down")


@pytest.mark.parametrize("name", ["up", "kill", "stop"])
def test_help_says_what_a_killed_node_comes_back_by(name: str) -> None:
    said = " ".join(
        CliRunner().invoke(make_app("cluster"), ["cluster", name, "--help"]).stdout.split()
    )
    if name == "up":
        assert "not those that kill or stop ended" in said.replace("│ ", "")
    else:
        assert "up --restart" in said


def test_a_cluster_that_cannot_start_says_why(tmp_path: Path) -> None:
    command = ClusterCommand(tmp_path / "cluster")
    command.run("up", "--nodes", "1", "--listen", "127.0.0.1:0", "--detach")
    command.run("down")
    assert "is down" in command.run("status", exit_code=3).stderr
    meta = command.directory / "node-1" / "data" / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=1", "node.id=7"))
    refused = command.run("up", exit_code=1)
    assert "node 1 ended with exit code" in refused.stderr
    assert "belongs to node 7" in refused.stderr
