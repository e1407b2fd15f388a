"""Runs `ottla cluster status`, once or repeatedly."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from ottla.cli.client_security.command_config import read_command_config
from ottla.cli.cluster.defaults import DEFAULT_DIR
from ottla.cli.cluster.layout import ClusterLayout, has_cluster, read_layout
from ottla.cli.cluster.nodes import running_pids
from ottla.cli.cluster.state import is_paused, read_state
from ottla.cli.cluster.status import ClusterStatus, fetch_status
from ottla.cli.cluster.status_view import ProcessView, status_json, status_view
from ottla.cli.connection.admin_connection import connected_admin
from ottla.cli.connection.bootstrap_addresses import address_text, join_addresses
from ottla.cli.connection.cluster_access import ClusterAccess, resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.port_probe import PortProbe
from ottla.cli.connection.profiles import read_profiles
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork


def show_status(
    terminal: Terminal,
    directory: Path,
    options: ClusterOptions,
    *,
    watch_s: float | None,
    as_json: bool,
) -> ExitCode:
    """Shows the status of the cluster in the directory, or of the one that the options name."""
    layout = chosen_layout(directory, options)
    access = resolve(options) if layout is None else local_access(layout)
    if watch_s is not None:
        with suppress(KeyboardInterrupt):
            asyncio.run(_watch(terminal, access, layout, watch_s, as_json=as_json))
        return ExitCode.OK
    processes = _processes(layout)
    try:
        status = asyncio.run(_fetch_status(access))
    except CommandError as error:
        if layout is not None and not any(process.is_well for process in processes.values()):
            raise CommandError(
                f"The cluster in {layout.directory} is down.",
                f"`ottla cluster up --data-dir {directory}` starts it.",
                exit_code=ExitCode.UNREACHABLE,
            ) from None
        raise error
    if as_json:
        terminal.print_json(status_json(status, processes))
    else:
        terminal.stdout.print(status_view(status, processes, now_ms=SystemClock().now_ms()))
    return _verdict(status, processes)


async def _watch(
    terminal: Terminal,
    access: ClusterAccess,
    layout: ClusterLayout | None,
    interval_s: float,
    *,
    as_json: bool,
) -> None:
    """Repeats until Ctrl-C, even while the cluster does not respond."""
    clock = SystemClock()
    with nullcontext() if as_json else Live(console=terminal.stdout, auto_refresh=False) as live:
        while True:
            try:
                status = await _fetch_status(access)
            except CommandError as error:
                fields: Mapping[str, Any] = {"is_well": False, "reason": error.message}
                shown: RenderableType = Text(error.message, style="red")
            else:
                processes = _processes(layout)
                fields = status_json(status, processes)
                shown = status_view(status, processes, now_ms=clock.now_ms())
            if live is None:
                terminal.print_json(fields)
                terminal.stdout.file.flush()
            else:
                live.update(shown, refresh=True)
            await clock.sleep(interval_s)


async def _fetch_status(access: ClusterAccess) -> ClusterStatus:
    async with connected_admin(access, PortProbe(SystemNetwork())) as (admin, _):
        return await fetch_status(admin)


def local_access(layout: ClusterLayout) -> ClusterAccess:
    """With the credentials that `ottla cluster up --secure` left in the directory."""
    bootstrap = join_addresses(tuple(node.address for node in layout.nodes))
    if not layout.client_properties_file.exists():
        return ClusterAccess(bootstrap)
    return ClusterAccess(bootstrap, read_command_config(layout.client_properties_file).properties)


def chosen_layout(directory: Path, options: ClusterOptions) -> ClusterLayout | None:
    """The cluster in the directory, or None to use the cluster of the options. An explicit
    directory overrides the environment; a cluster in the default directory overrides the current
    profile."""
    is_own = (
        options.has_own_bootstrap or options.has_own_profile or options.command_config is not None
    )
    if options.names_cluster and (is_own or directory == DEFAULT_DIR):
        return None
    if directory == DEFAULT_DIR and not has_cluster(directory) and read_profiles().current:
        return None
    return read_layout(directory)


def _processes(layout: ClusterLayout | None) -> dict[int, ProcessView]:
    if layout is None:
        return {}
    state, running = read_state(layout.state_file), running_pids(layout)
    processes = {}
    for node in layout.nodes:
        pid = running.get(node.id)
        if pid is None:
            text = "down" if state.supervisor_pid is None else state.node(node.id).state
        elif is_paused(pid):
            text = f"{pid} paused"
        else:
            text = str(pid)
        well = pid is not None and text == str(pid)
        processes[node.id] = ProcessView(text, address_text(node.address), well)
    return processes


def _verdict(status: ClusterStatus, processes: Mapping[int, ProcessView]) -> ExitCode:
    is_well = status.is_well and all(process.is_well for process in processes.values())
    return ExitCode.OK if is_well else ExitCode.REFUSED
