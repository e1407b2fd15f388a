"""Runs `ottla cluster up`: creates a cluster if there is none, starts and supervises it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from pathlib import Path
from typing import Final, TypeAlias

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.cluster.defaults import DEFAULT_LISTEN, DEFAULT_NODES
from ottla.cli.cluster.layout import (
    ClusterLayout,
    NodePlace,
    has_cluster,
    parse_listen,
    read_layout,
)
from ottla.cli.cluster.state import ClusterState, initial_state, read_state, runs
from ottla.cli.cluster.supervisor import NodeFailedError, Supervisor
from ottla.cli.cluster.web_programs import web_programs
from ottla.cli.connection.bootstrap_addresses import address_text
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.disk import File
from ottla.runtime.system_clock import SystemClock, sleep_blocking
from ottla.runtime.system_disk import SystemDisk

# What runs while a cluster is supervised.
Beside: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
# Makes the supervisor check again which nodes must run.
WAKE: Final = signal.SIGUSR1
SUPERVISOR_LOG: Final = "supervisor.log"
_LOCK: Final = ".lock"
_LOG_LINES_SHOWN: Final = 15
_DETACHED_READY_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.02


def find_or_make(
    directory: Path,
    *,
    nodes: int | None,
    listen: str | None,
    advertise: str | None,
    settings: Sequence[str],
    is_secured: bool = False,
) -> ClusterLayout:
    """The cluster in the directory, or a new one. The options must match an existing cluster."""
    configs = dict(parse_name_values(settings, what="--set"))
    address = parse_listen(listen or DEFAULT_LISTEN)
    if not has_cluster(directory):
        from ottla.cli.cluster.making import NewCluster, make_cluster

        new = NewCluster(nodes or DEFAULT_NODES, address, advertise, configs, is_secured)
        return make_cluster(directory, new)
    layout = read_layout(directory)
    if is_secured and not layout.client_properties_file.exists():
        raise _differs(layout, "it is not secured")
    if nodes not in (None, len(layout.nodes)):
        raise _differs(layout, f"it has {count(len(layout.nodes), 'node')}")
    if listen is not None and address not in (layout.nodes[0].address, address._replace(port=0)):
        raise _differs(layout, f"it listens on {layout.bootstrap}")
    if advertise is not None or configs:
        raise _differs(layout, "its settings are in the server.properties of each node")
    return layout


def run_in_foreground(
    terminal: Terminal,
    layout: ClusterLayout,
    *,
    restarts: bool,
    beside: Beside = nullcontext,
    has_web: bool = False,
) -> None:
    """Supervises the cluster until Ctrl-C or `ottla cluster down`. `beside` runs meanwhile; with
    `has_web`, the registry and the gateway run as soon as the cluster is ready."""
    with closing(_hold(layout)):
        supervising = _supervise(
            terminal, layout, restarts=restarts, beside=beside, has_web=has_web
        )
        asyncio.run(supervising)


def run_in_background(
    terminal: Terminal, layout: ClusterLayout, *, restarts: bool, has_web: bool = False
) -> None:
    """Starts a supervisor as a separate process, and returns when the cluster is ready."""
    _hold(layout).close()
    log_file = layout.directory / SUPERVISOR_LOG
    command = [sys.executable, "-m", "ottla", "cluster", "up"]
    options = ["--data-dir", str(layout.directory), *([] if restarts else ["--no-restart"])]
    options += ["--web"] if has_web else []
    clock = SystemClock()
    started = clock.monotonic()
    with log_file.open("ab") as log:
        supervisor = subprocess.Popen(  # noqa: S603 - ourselves
            [*command, *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    while not _is_ready(layout, supervisor.pid):
        if supervisor.poll() is not None:
            raise CommandError("The cluster did not start:", *_last_lines(log_file))
        if clock.monotonic() - started > _DETACHED_READY_SECONDS:
            raise CommandError(
                f"The cluster is not ready after {_DETACHED_READY_SECONDS:.0f} s; it is still "
                "starting in the background.",
                f"See {log_file} and the nodes' node.log for the reason; `ottla cluster "
                "down` stops it.",
            )
        sleep_blocking(_POLL_SECONDS)
    _say_ready(terminal, layout, clock.monotonic() - started)
    terminal.stdout.print(f"`ottla cluster down --data-dir {layout.directory}` stops it.")


async def _supervise(
    terminal: Terminal, layout: ClusterLayout, *, restarts: bool, beside: Beside, has_web: bool
) -> None:
    clock = SystemClock()
    started = clock.monotonic()
    supervisor = Supervisor(
        layout,
        _new_state(layout),
        clock,
        report=lambda node, what: _report(terminal, node, what),
        restarts=restarts,
    )
    _handle_signals(supervisor)
    async with beside():
        supervisor.start()
        try:
            if await supervisor.wait_ready():
                _say_ready(terminal, layout, clock.monotonic() - started)
                terminal.stdout.file.flush()
                async with web_programs(terminal, layout) if has_web else nullcontext():
                    await supervisor.wait_stop_requested()
        except NodeFailedError as error:
            lines = _last_lines(error.node.log_file)
            raise CommandError(f"Cannot start the cluster: {error}.", *lines) from None
        finally:
            terminal.stderr.print("Stopping ...")
            await supervisor.stop()


def _new_state(layout: ClusterLayout) -> ClusterState:
    """The state before any node runs, whatever the previous supervisor has written."""
    state = initial_state(layout, read_state(layout.state_file).cluster_id)
    state.supervisor_pid = os.getpid()
    for node in layout.nodes:
        node.stopped_file.unlink(missing_ok=True)
    return state


def _handle_signals(supervisor: Supervisor) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, supervisor.request_stop)
    loop.add_signal_handler(WAKE, supervisor.wake)


def _hold(layout: ClusterLayout) -> File:
    """Locks the cluster against a second supervisor, until the file is closed."""
    state = read_state(layout.state_file)
    try:
        held = SystemDisk().lock(str(layout.directory / _LOCK))
    except BlockingIOError:
        raise CommandError(
            f"The cluster in {layout.directory} is up already (pid {state.supervisor_pid}).",
            f"`ottla cluster status --data-dir {layout.directory}` shows it, `down` stops it.",
        ) from None
    left = [
        (node.id, state.node(node.id).pid)
        for node in layout.nodes
        if runs(state.node(node.id).pid, with_argument=str(node.properties_file))
    ]
    if left:
        held.close()
        processes = ", ".join(f"node {node_id} (pid {pid})" for node_id, pid in left)
        raise CommandError(
            f"Nodes in {layout.directory} run without a supervisor: {processes}.",
            f"`ottla cluster down --data-dir {layout.directory}` stops them.",
        )
    return held


def _differs(layout: ClusterLayout, how: str) -> CommandError:
    return CommandError(
        f"{layout.directory} has a cluster already, and {how}.",
        "Leave out the option to start it as it is, edit the files, or choose another --data-dir.",
        exit_code=ExitCode.USAGE,
    )


def _is_ready(layout: ClusterLayout, supervisor_pid: int) -> bool:
    state = read_state(layout.state_file)
    return state.supervisor_pid == supervisor_pid and state.is_ready


def _report(terminal: Terminal, node: NodePlace, what: str) -> None:
    line = f"node {node.id}  {address_text(node.address)}  {what}"
    terminal.stdout.print(line, markup=False, soft_wrap=True)
    terminal.stdout.file.flush()


def _say_ready(terminal: Terminal, layout: ClusterLayout, seconds: float) -> None:
    cluster_id = read_state(layout.state_file).cluster_id
    terminal.stdout.print(
        f"Ready on {layout.bootstrap} (cluster {cluster_id}, {seconds:.1f} s)",
        markup=False,
        soft_wrap=True,
    )


def _last_lines(file: Path) -> list[str]:
    with file.open(errors="replace") as log:
        return [line.rstrip() for line in deque(log, maxlen=_LOG_LINES_SHOWN)]
