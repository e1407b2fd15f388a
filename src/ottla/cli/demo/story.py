"""Runs both parts on one cluster of three nodes, and prints where to look at the results."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from rich.console import Console

from ottla.cli.cluster.layout import ClusterLayout
from ottla.cli.cluster.making import NewCluster, make_cluster
from ottla.cli.cluster.nodes import take_down
from ottla.cli.cluster.up import run_in_background
from ottla.cli.demo.failover import replicas, show_failover
from ottla.cli.demo.punctuality import DEFINITION, PLOT, TABLE, show_punctuality
from ottla.cli.display.terminal import Terminal
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock

HOME: Final = Path(".cache") / "demo"


def run() -> None:
    """Runs the demo. Raises CommandError."""
    console = Console(highlight=False, soft_wrap=True)
    clock = SystemClock()
    started = clock.monotonic()
    console.print("[bold]Ottla[/]: three nodes, and any Kafka client. Here is our own.\n")
    home = HOME.resolve()
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    new = NewCluster(3, Address("127.0.0.1", 0), advertised_host=None, settings={})
    layout = make_cluster(home / "cluster", new)
    # The output of the commands is not shown.
    silent = Terminal(Console(quiet=True), Console(quiet=True, stderr=True))
    try:
        run_in_background(silent, layout, restarts=False)
        console.print(
            f"[bold]1.[/] Three nodes start: ready on {layout.bootstrap} after "
            f"{clock.monotonic() - started:.1f} s."
        )
        show_failover(console, silent, layout)
        show_punctuality(console, silent, layout, home)
        console.print(f"\nTotal time: {clock.monotonic() - started:.0f} s.")
        _leave(console, layout)
    finally:
        take_down(silent, layout)
    console.print(replicas(layout))


def _leave(console: Console, layout: ClusterLayout) -> None:
    """Prints where to look at the results. On a terminal it waits for Enter before it returns."""
    bootstrap = f"127.0.0.1:{layout.nodes[0].address.port}"
    console.print(
        "Look at\n"
        f"  the plot       {HOME / PLOT}\n"
        f"  the table      {HOME / TABLE}\n"
        f"  the pipeline   {os.path.relpath(DEFINITION)}, its output in "
        f"{HOME / 'progress.jsonl'}\n"
        f"  the topic      .venv/bin/ottla consume punctuality --from beginning -b {bootstrap}\n"
        f"  its lag        .venv/bin/ottla groups describe punctuality.punctuality -b {bootstrap}\n"
        f"  the cluster    .venv/bin/ottla cluster status --data-dir {HOME / 'cluster'}\n"
    )
    if console.is_terminal and sys.stdin.isatty():
        console.input("The cluster runs until you press Enter.")
    else:
        console.print(
            "The cluster stops now; start it again at the same address with\n"
            f"  .venv/bin/ottla cluster up --data-dir {HOME / 'cluster'}\n"
        )
