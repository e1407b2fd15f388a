"""Part one: three nodes serve a Kafka client, and one of them is killed.

Afterwards every acknowledged record is in the log once and in order, and the replicas are identical
byte by byte.
"""

from __future__ import annotations

import signal
from typing import Final

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ottla.cli.cluster.layout import ClusterLayout
from ottla.cli.cluster.nodes import restart_node, send_signal
from ottla.cli.cluster.status import fetch_status
from ottla.cli.connection.admin_connection import with_admin
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.demo.load import Sender, create_topics, leaders, read_all
from ottla.cli.display.terminal import Terminal
from ottla.runtime.system_clock import SystemClock, sleep_blocking

TOPIC: Final = "clicks"
PARTITIONS: Final = 3
RECORDS: Final = 150_000
KILLED_AT: Final = RECORDS // 3
VALUE_BYTES: Final = 1_000
IN_SYNC_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.1


def show_failover(console: Console, silent: Terminal, layout: ClusterLayout) -> None:
    clock = SystemClock()
    create_topics(layout.bootstrap, {TOPIC: {}}, partitions=PARTITIONS)
    sender = Sender(layout.bootstrap, TOPIC, clock, partitions=PARTITIONS)
    victim = leaders(layout.bootstrap, TOPIC)[0]
    seconds = _send(console, layout, sender, victim)
    gap = sender.longest_gaps[0]
    console.print(
        f"[bold]4.[/] The client continues: {RECORDS:,} records acknowledged in {seconds:.1f} s. "
        f"Partition 0 was unavailable for [bold]{gap:.2f} s[/]."
    )
    seconds = bring_back(silent, layout, victim)
    console.print(
        f"[bold]5.[/] Node {victim} is started again, and back in sync after {seconds:.1f} s."
    )
    started = clock.monotonic()
    found = read_all(layout.bootstrap, TOPIC, partitions=PARTITIONS)
    for partition, numbers in found.items():
        expected = list(range(partition, RECORDS, PARTITIONS))
        assert numbers == expected, "records are missing, duplicated or out of order"
    console.print(
        f"[bold]6.[/] {RECORDS:,} records read back in {clock.monotonic() - started:.1f} s: each "
        "once and in order.\n"
    )


def bring_back(silent: Terminal, layout: ClusterLayout, node_id: int) -> float:
    """Starts a node again; returns how long it took until all replicas were in sync."""
    clock = SystemClock()
    started = clock.monotonic()
    restart_node(silent, layout, node_id, signal.SIGKILL)
    while not with_admin(ClusterOptions(layout.bootstrap), silent, fetch_status).is_well:
        waited = clock.monotonic() - started
        assert waited < IN_SYNC_SECONDS, "a restarted node is not in sync again"
        sleep_blocking(_POLL_SECONDS)
    return clock.monotonic() - started


def _send(console: Console, layout: ClusterLayout, sender: Sender, victim: int) -> float:
    """Sends all records and kills a node meanwhile. Returns how long it took."""
    clock = SystemClock()
    started = clock.monotonic()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("1 KB records, idempotent, acks=all", total=RECORDS)
        for number in range(RECORDS):
            sender.send(b"%0*d" % (VALUE_BYTES, number), partition=number % PARTITIONS)
            if number % 1_000 == 0:
                progress.update(task, completed=number)
            if number == KILLED_AT:
                rate = number / (clock.monotonic() - started)
                console.print(
                    f"[bold]2.[/] 1 KB records, idempotent, acks=all, {PARTITIONS} replicas: "
                    f"{rate:,.0f} per second."
                )
                sender.forget_gaps()
                send_signal(layout, layout.node(victim), signal.SIGKILL)
                console.print(
                    f"[bold]3.[/] Node {victim}, which leads partition 0, is killed (SIGKILL): "
                    f"{sender.acknowledged:,} records are acknowledged, {sender.unanswered:,} are "
                    "in flight."
                )
        sender.finish()
    return clock.monotonic() - started


def replicas(layout: ClusterLayout) -> Table:
    """A table of the logs of all nodes. Asserts that a partition's replicas are identical."""
    table = Table(box=None, padding=(0, 2), title="Kafka's own files, the same on every node")
    for title in ("partition", "segments", "bytes of records", "node 1 = node 2 = node 3"):
        table.add_column(title, justify="right")
    for partition in range(PARTITIONS):
        logs = [
            sorted((node.data_directory / f"{TOPIC}-{partition}").glob("*.log"))
            for node in layout.nodes
        ]
        first, *others = [b"".join(file.read_bytes() for file in files) for files in logs]
        assert all(other == first for other in others), "replicas differ"
        table.add_row(f"{TOPIC}-{partition}", str(len(logs[0])), f"{len(first):,}", "yes")
    return table
