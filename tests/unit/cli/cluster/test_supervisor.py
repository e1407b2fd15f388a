"""Processes looked after: little scripts stand for nodes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ottla.cli.cluster.layout import ClusterLayout, NodePlace
from ottla.cli.cluster.state import initial_state, read_state
from ottla.cli.cluster.supervisor import NodeFailedError, Supervisor
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock

SERVES = "import signal; print('Ready on 127.0.0.1:1', flush=True); signal.pause()"
FAILS = "raise SystemExit(3)"


class Host:
    """A supervisor over two scripts, and what it reported."""

    def __init__(self, folder: Path, script: str, *, restarts: bool = True) -> None:
        self.reports: list[str] = []
        self._folder, self._script, self._restarts = folder, script, restarts

    def play(self, story: Callable[[Supervisor], Awaitable[None]]) -> None:
        async def run() -> None:
            nodes = tuple(self._place(node_id) for node_id in (1, 2))
            self.layout = ClusterLayout(self._folder, nodes)
            supervisor = Supervisor(
                self.layout,
                initial_state(self.layout, "cluster"),
                SystemClock(),
                report=lambda node, what: self.reports.append(f"{node.id}: {what}"),
                restarts=self._restarts,
                command_of=lambda _node: [sys.executable, "-S", "-c", self._script],
            )
            supervisor.start()
            try:
                await story(supervisor)
            finally:
                await supervisor.stop()

        asyncio.run(run())

    def pid(self, node_id: int) -> int:
        pid = read_state(self.layout.state_file).node(node_id).pid
        assert pid is not None
        return pid

    def state(self, node_id: int) -> str:
        return read_state(self.layout.state_file).node(node_id).state

    async def wait(self, holds: Callable[[], bool]) -> None:
        clock = SystemClock()
        async with asyncio.timeout(30):
            while not holds():
                await clock.sleep(0.01)

    def _place(self, node_id: int) -> NodePlace:
        folder = self._folder / f"node-{node_id}"
        folder.mkdir()
        return NodePlace(node_id, folder, Address("h", node_id), Address("h", node_id + 10))


def test_nodes_are_started_and_stopped(tmp_path: Path) -> None:
    host = Host(tmp_path, SERVES)

    async def story(supervisor: Supervisor) -> None:
        assert await supervisor.wait_ready()
        assert host.state(1) == host.state(2) == "ready"
        os.kill(host.pid(1), signal.SIGSTOP)

    host.play(story)
    assert host.state(1) == host.state(2) == "stopped"
    assert read_state(tmp_path / "cluster.json").supervisor_pid is None


def test_a_node_that_died_is_started_again(tmp_path: Path) -> None:
    host = Host(tmp_path, SERVES)

    async def story(supervisor: Supervisor) -> None:
        await supervisor.wait_ready()
        first = host.pid(1)
        os.kill(first, signal.SIGKILL)
        await host.wait(lambda: host.state(1) == "died")
        await host.wait(lambda: host.state(1) == "ready")
        assert host.pid(1) != first

    host.play(story)
    assert "1: was killed by SIGKILL; restarting it" in host.reports


def test_a_node_that_a_command_ended_stays_down_until_woken(tmp_path: Path) -> None:
    host = Host(tmp_path, SERVES)

    async def story(supervisor: Supervisor) -> None:
        await supervisor.wait_ready()
        stopped_file = host.layout.node(2).stopped_file
        stopped_file.touch()
        os.kill(host.pid(2), signal.SIGTERM)
        await host.wait(lambda: host.state(2) == "stopped")
        stopped_file.unlink()
        supervisor.wake()
        await host.wait(lambda: host.state(2) == "ready")

    host.play(story)


def test_without_restarts_the_dead_stay_dead(tmp_path: Path) -> None:
    host = Host(tmp_path, SERVES, restarts=False)

    async def story(supervisor: Supervisor) -> None:
        await supervisor.wait_ready()
        os.kill(host.pid(1), signal.SIGKILL)
        await host.wait(lambda: len(host.reports) == 3)
        assert host.state(1) == "died"
        assert host.layout.node(1).stopped_file.exists()

    host.play(story)


def test_a_node_that_cannot_start_ends_it_all(tmp_path: Path) -> None:
    async def story(supervisor: Supervisor) -> None:
        await supervisor.wait_ready()

    with pytest.raises(NodeFailedError, match="ended with exit code 3"):
        Host(tmp_path, FAILS).play(story)


def test_a_stop_before_all_are_ready_is_noticed(tmp_path: Path) -> None:
    async def story(supervisor: Supervisor) -> None:
        supervisor.request_stop()
        assert not await supervisor.wait_ready()

    Host(tmp_path, "import signal; signal.pause()").play(story)
