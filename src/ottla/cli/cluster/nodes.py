"""Sends signals to single nodes of a cluster, and stops the whole cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from ottla.cli.cluster.layout import ClusterLayout, NodePlace
from ottla.cli.cluster.state import READY, NodeState, read_state, runs
from ottla.cli.cluster.up import WAKE
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.system_clock import SystemClock, sleep_blocking

_POLL_SECONDS: Final = 0.02
_WAIT_SECONDS: Final = 60.0
# The signals that end a node's process.
_DEADLY: Final = frozenset({signal.SIGKILL, signal.SIGTERM})
# The command lines of supervisors: `ottla cluster up`, and `ottla start --workers`.
_SUPERVISING: Final = ("cluster up", "--workers")
_DONE: Final = {
    signal.SIGKILL: "killed",
    signal.SIGTERM: "stopped",
    signal.SIGSTOP: "paused",
    signal.SIGCONT: "resumed",
}


def parse_signal(name: str, *, deadly: bool = False) -> signal.Signals:
    """Parses TERM, SIGTERM or term. With `deadly` only signals that end a process are allowed."""
    allowed = sorted(_DEADLY if deadly else _DONE, key=lambda number: number.name)
    for number in allowed:
        if number.name.removeprefix("SIG") == name.upper().removeprefix("SIG"):
            return number
    names = ", ".join(number.name.removeprefix("SIG") for number in allowed)
    raise CommandError(
        f"{name} is not a supported signal; choose one of {names}.", exit_code=ExitCode.USAGE
    )


def signal_node(
    terminal: Terminal, layout: ClusterLayout, node_id: int, number: signal.Signals
) -> None:
    """Sends a signal. A node that it ends stays down until it is restarted by a command."""
    node = layout.node(node_id)
    pid = send_signal(layout, node, number)
    if number in _DEADLY:
        _wait_ended(layout, node)
    terminal.stdout.print(f"node {node.id} {_DONE[number]} (pid {pid})")


def send_signal(layout: ClusterLayout, node: NodePlace, number: signal.Signals) -> int:
    """Sends a signal and returns the process id. It does not wait for the process to end."""
    pid = _running_pid(layout, node)
    if pid is None:
        raise CommandError(
            f"Node {node.id} is not running.", f"`ottla cluster restart {node.id}` starts it."
        )
    if number in _DEADLY:
        # Before the signal, so that the file exists when the supervisor sees the process end.
        node.stopped_file.touch()
    os.kill(pid, number)
    if number == signal.SIGTERM:
        # A paused process cannot shut down cleanly.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    return pid


def restart_node(
    terminal: Terminal, layout: ClusterLayout, node_id: int, number: signal.Signals
) -> None:
    """Ends the node if it runs, and makes the supervisor start it. Returns when it is ready."""
    node = layout.node(node_id)
    _require_supervisor(layout)
    clock = SystemClock()
    started = clock.monotonic()
    if _running_pid(layout, node) is not None:
        send_signal(layout, node, number)
        _wait_ended(layout, node)
    node.stopped_file.unlink(missing_ok=True)
    os.kill(_require_supervisor(layout), WAKE)
    _wait(lambda: _state(layout, node).state == READY, f"node {node.id} is not ready")
    seconds = clock.monotonic() - started
    pid = _state(layout, node).pid
    terminal.stdout.print(f"node {node.id} restarted (pid {pid}, {seconds:.1f} s)")


def take_down(terminal: Terminal, layout: ClusterLayout) -> None:
    """Stops the cluster. Also stops nodes that run without a supervisor."""
    supervisor = _supervisor_pid(layout)
    if supervisor is not None:
        os.kill(supervisor, signal.SIGTERM)
        _wait(lambda: _supervisor_pid(layout) is None, "the cluster is still stopping")
    left = running_pids(layout)
    for node_id in left:
        send_signal(layout, layout.node(node_id), signal.SIGTERM)
    _wait(lambda: not running_pids(layout), "some nodes are still stopping")
    if supervisor is None and not left:
        terminal.notice(f"The cluster in {layout.directory} is down already.")
    else:
        terminal.stdout.print("stopped", markup=False)


def running_pids(layout: ClusterLayout) -> dict[int, int]:
    """The process ids of the running nodes, by node id."""
    found = ((node.id, _running_pid(layout, node)) for node in layout.nodes)
    return {node_id: pid for node_id, pid in found if pid is not None}


def _wait_ended(layout: ClusterLayout, node: NodePlace) -> None:
    _wait(lambda: _running_pid(layout, node) is None, f"node {node.id} has not ended")
    if _supervisor_pid(layout) is not None:
        _wait(
            lambda: _state(layout, node).pid is None,
            f"the supervisor has not noticed that node {node.id} ended",
        )


def _require_supervisor(layout: ClusterLayout) -> int:
    pid = _supervisor_pid(layout)
    if pid is None:
        raise CommandError(
            f"The cluster in {layout.directory} is not up.",
            "Start it with `ottla cluster up`; if some nodes still run, stop them first "
            "with `ottla cluster down`.",
        )
    return pid


def _supervisor_pid(layout: ClusterLayout) -> int | None:
    pid = read_state(layout.state_file).supervisor_pid
    is_running = any(runs(pid, with_argument=argument) for argument in _SUPERVISING)
    return pid if is_running else None


def _running_pid(layout: ClusterLayout, node: NodePlace) -> int | None:
    pid = _state(layout, node).pid
    return pid if runs(pid, with_argument=str(node.properties_file)) else None


def _state(layout: ClusterLayout, node: NodePlace) -> NodeState:
    return read_state(layout.state_file).node(node.id)


def _wait(holds: Callable[[], bool], otherwise: str) -> None:
    clock = SystemClock()
    deadline = clock.monotonic() + _WAIT_SECONDS
    while not holds():
        if clock.monotonic() > deadline:
            raise CommandError(
                f"After {_WAIT_SECONDS:.0f} s {otherwise}.",
                "See its node.log; `ottla cluster status` shows the state of the nodes.",
            )
        sleep_blocking(_POLL_SECONDS)
