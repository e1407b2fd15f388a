"""The supervisor of a cluster's nodes. Each node is a process, restarted when it dies.

    down ──start──▶ starting ──says Ready──▶ ready ──exits──▶ died ──after a pause──▶ starting
      ▲                                        │
      └───────── stopped by a command ◀────────┘

Each node has its own session: Ctrl-C at a terminal reaches only the supervisor, which then shuts
the nodes down cleanly. If the supervisor is killed, the nodes continue to run; `ottla cluster down`
finds and stops them.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeAlias

from ottla.cli.cluster.layout import ClusterLayout, NodePlace
from ottla.cli.cluster.state import (
    DIED,
    READY,
    STARTING,
    STOPPED,
    ClusterState,
)
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks

# The pause before a restart doubles each time, up to the maximum.
_RESTART_SECONDS_MIN: Final = 0.2
_RESTART_SECONDS_MAX: Final = 10.0
# How long a node may take to hand over its leadership and to close its logs.
_STOP_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.01
_READY: Final = b"Ready on "

# A callback for events of a node, with the node and a text.
Report: TypeAlias = Callable[[NodePlace, str], None]


def start_command(node: NodePlace) -> list[str]:
    """The command that runs a node."""
    start = [sys.executable, "-m", "ottla", "start"]
    return [*start, "--config", str(node.properties_file)]


class NodeFailedError(Exception):
    """A node ended before it was ready for the first time."""

    def __init__(self, node: NodePlace, how: str) -> None:
        super().__init__(f"node {node.id} {how}")
        self.node = node


class Supervisor:
    """Lives within one event loop: `start`, then one of the `wait` methods, at last `stop`.

    It owns the processes and `cluster.json`. A node whose `stopped` file exists stays down; `wake`
    makes the supervisor check these files again.
    """

    def __init__(
        self,
        layout: ClusterLayout,
        state: ClusterState,
        clock: Clock,
        *,
        report: Report,
        restarts: bool,
        command_of: Callable[[NodePlace], list[str]] = start_command,
    ) -> None:
        self._layout = layout
        self._state = state
        self._clock = clock
        self._report = report
        self._restarts = restarts
        self._command_of = command_of
        self._tasks = Tasks(self._task_failed)
        self._processes: dict[int, Process] = {}
        # The number of processes that are being created and are not in `_processes` yet.
        self._spawning = 0
        self._ever_ready: set[int] = set()
        self._stop_requests = 0
        self._is_stopping = False
        self._changed = asyncio.Event()
        self._wake = asyncio.Event()
        self._failure: BaseException | None = None

    def start(self) -> None:
        for node in self._layout.nodes:
            self._tasks.start(f"node {node.id}", self._keep_running(node))

    async def wait_ready(self) -> bool:
        """Waits until every node is ready. Returns False if a stop is requested before.

        Raises NodeFailedError if a node ends before it was ready.
        """
        await self._wait(lambda: self._state.is_ready or self._stop_requests > 0)
        return self._stop_requests == 0

    async def wait_stop_requested(self) -> None:
        await self._wait(lambda: self._stop_requests > 0)

    def request_stop(self) -> None:
        """Called by the signal handler. The second request kills the nodes at once."""
        self._stop_requests += 1
        if self._stop_requests > 1:
            self.kill()
        self._changed.set()

    def wake(self) -> None:
        self._wake.set()

    async def stop(self) -> None:
        """Shuts all nodes down cleanly, paused ones too, and waits. Kills them after
        `_STOP_SECONDS`."""
        self._is_stopping = True
        while self._spawning:
            await self._clock.sleep(_POLL_SECONDS)
        processes = list(self._processes.values())
        for process in processes:
            _signal(process, signal.SIGTERM)
            _signal(process, signal.SIGCONT)
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                await asyncio.gather(*(process.wait() for process in processes))
        self.kill()
        await asyncio.gather(*(process.wait() for process in processes))
        await self._tasks.close()
        for node in self._state.nodes:
            node.pid, node.state = None, STOPPED
        self._state.supervisor_pid = None
        self._write_state()

    def kill(self) -> None:
        for process in self._processes.values():
            _signal(process, signal.SIGKILL)

    async def _keep_running(self, node: NodePlace) -> None:
        pause_seconds = _RESTART_SECONDS_MIN
        while True:
            await self._wait_not_stopped(node)
            started = self._clock.monotonic()
            how = await self._run(node)
            if self._is_stopping:
                return
            self._ended(node, how)
            if self._clock.monotonic() - started > _RESTART_SECONDS_MAX:
                pause_seconds = _RESTART_SECONDS_MIN
            if not node.stopped_file.exists():
                await self._clock.sleep(pause_seconds)
                pause_seconds = min(pause_seconds * 2, _RESTART_SECONDS_MAX)

    def _ended(self, node: NodePlace, how: str) -> None:
        """Reports how the node ended. With its `stopped` file it stays down."""
        restart = f"`ottla cluster restart {node.id}` starts it again"
        if node.stopped_file.exists():
            self._set(node, pid=None, state=STOPPED)
            self._report(node, f"{how}; {restart}")
            return
        self._set(node, pid=None, state=DIED)
        if node.id not in self._ever_ready:
            raise NodeFailedError(node, how)
        if self._restarts:
            self._report(node, f"{how}; restarting it")
        else:
            node.stopped_file.touch()
            self._report(node, f"{how}; {restart}")

    async def _run(self, node: NodePlace) -> str:
        """Runs one process until it ends. Returns how it ended, as a text."""
        with node.log_file.open("ab") as log:
            position = log.tell()
            self._spawning += 1
            try:
                # No pipes: the node must survive the end of the supervisor.
                process = await asyncio.create_subprocess_exec(
                    *self._command_of(node), stdout=log, stderr=log, start_new_session=True
                )
            finally:
                self._spawning -= 1
        self._processes[node.id] = process
        self._set(node, pid=process.pid, state=STARTING)
        watching = self._tasks.start("ready", self._watch_ready(node, process.pid, position))
        code = await process.wait()
        watching.cancel()
        del self._processes[node.id]
        return _how_it_ended(code)

    async def _watch_ready(self, node: NodePlace, pid: int, position: int) -> None:
        """Waits until the process has written `_READY` to its log."""
        started = self._clock.monotonic()
        with node.log_file.open("rb") as log:
            log.seek(position)
            output = b""
            while _READY not in output:
                await self._clock.sleep(_POLL_SECONDS)
                output += log.read()
        seconds = self._clock.monotonic() - started
        self._ever_ready.add(node.id)
        self._set(node, pid=pid, state=READY)
        self._report(node, f"pid {pid}, ready in {seconds:.1f} s")

    async def _wait_not_stopped(self, node: NodePlace) -> None:
        while node.stopped_file.exists():
            await self._wake.wait()
            self._wake.clear()

    async def _wait(self, holds: Callable[[], bool]) -> None:
        while not holds():
            if self._failure is not None:
                raise self._failure
            await self._changed.wait()
            self._changed.clear()

    def _set(self, node: NodePlace, *, pid: int | None, state: str) -> None:
        found = self._state.node(node.id)
        found.pid, found.state = pid, state
        self._write_state()
        self._changed.set()

    def _write_state(self) -> None:
        self._state.write(self._layout.state_file)

    def _task_failed(self, _name: str, error: BaseException) -> None:
        self._failure = error
        self._changed.set()


def _signal(process: Process, number: signal.Signals) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.send_signal(number)


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return "stopped" if code == 0 else f"ended with exit code {code}"
    return f"was killed by {signal.Signals(-code).name}"
