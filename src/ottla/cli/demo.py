"""`make demo`: three nodes serve a Kafka client, one is killed meanwhile, and nothing is lost.

What it shows is what it checks: everything that was acknowledged is there, once and in order, and
the replicas are the same to the byte.
"""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path
from typing import Final

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ottla.cli.cluster_admin import with_admin
from ottla.cli.cluster_layout import ClusterLayout
from ottla.cli.cluster_making import NewCluster, make_cluster
from ottla.cli.cluster_nodes import restart_node, send_signal, take_down
from ottla.cli.cluster_status import ClusterStatus, ask_status
from ottla.cli.cluster_up import run_in_background
from ottla.cli.demo_load import Sender, leaders, read_all
from ottla.cli.exit_codes import CommandError
from ottla.cli.terminal import Terminal, open_terminal
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock, sleep_blocking

TOPIC: Final = "clicks"
PARTITIONS: Final = 3
RECORDS: Final = 150_000
KILLED_AT: Final = RECORDS // 3
IN_SYNC_SECONDS: Final = 20.0
_POLL_SECONDS: Final = 0.1


def main() -> int:
    console = Console(highlight=False, soft_wrap=True)
    console.print("[bold]Ottla[/]: three nodes, and any Kafka client. Here is librdkafka.\n")
    with tempfile.TemporaryDirectory(prefix="ottla-demo-") as directory:
        new = NewCluster(3, Address("127.0.0.1", 0), advertised_host=None, settings={})
        layout = make_cluster(Path(directory), new)
        # What the commands say would not fit into the story.
        silent = Terminal(Console(quiet=True), Console(quiet=True, stderr=True))
        try:
            _tell(console, silent, layout)
        finally:
            take_down(silent, layout)
        console.print(_replicas(layout))
    console.print(
        "\nStart one yourself:  [bold].venv/bin/ottla cluster up --data-dir ./cluster[/]\n"
        "and look around:     [bold].venv/bin/ottla cluster --help[/]"
    )
    return 0


def _tell(console: Console, silent: Terminal, layout: ClusterLayout) -> None:
    clock = SystemClock()
    started = clock.monotonic()
    run_in_background(silent, layout, restarts=False)
    console.print(
        f"[bold]1.[/] Three nodes start: ready on {layout.bootstrap} after "
        f"{clock.monotonic() - started:.1f} s."
    )
    _create_topic(layout)
    sender = Sender(layout.bootstrap, TOPIC, clock, partitions=PARTITIONS)
    victim = leaders(layout.bootstrap, TOPIC)[0]
    seconds = _send(console, layout, sender, victim)
    gap = sender.longest_gaps[0]
    console.print(
        f"[bold]4.[/] The client goes on: {RECORDS:,} records acknowledged in {seconds:.1f} s. "
        f"Partition 0 stood still for [bold]{gap:.2f} s[/]."
    )
    started = clock.monotonic()
    restart_node(silent, layout, victim, signal.SIGKILL)
    _wait_in_sync(layout)
    console.print(
        f"[bold]5.[/] Node {victim} is started again, and back in sync after "
        f"{clock.monotonic() - started:.1f} s."
    )
    started = clock.monotonic()
    found = read_all(layout.bootstrap, TOPIC, partitions=PARTITIONS)
    for partition, numbers in found.items():
        expected = list(range(partition, RECORDS, PARTITIONS))
        assert numbers == expected, "records are missing, doubled or out of order"
    console.print(
        f"[bold]6.[/] {RECORDS:,} records read back in {clock.monotonic() - started:.1f} s: each "
        "once and in order.\n"
    )


def _send(console: Console, layout: ClusterLayout, sender: Sender, victim: int) -> float:
    """Sends everything, and kills a node on the way; returns how long it took."""
    clock = SystemClock()
    started = clock.monotonic()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("1 KB records, idempotent, acks=all", total=RECORDS)
        for number in range(RECORDS):
            sender.send(number)
            if number % 1_000 == 0:
                progress.update(task, completed=number)
            if number == KILLED_AT:
                rate = number / (clock.monotonic() - started)
                console.print(
                    f"[bold]2.[/] 1 KB records, idempotent, acks=all, {PARTITIONS} replicas: "
                    f"{rate:,.0f} a second."
                )
                sender.forget_gaps()
                send_signal(layout, layout.node(victim), signal.SIGKILL)
                console.print(
                    f"[bold]3.[/] Node {victim}, which leads partition 0, is killed (SIGKILL): "
                    f"{sender.acknowledged:,} records are acknowledged, {sender.unanswered:,} on "
                    "their way."
                )
        sender.finish()
    return clock.monotonic() - started


def _create_topic(layout: ClusterLayout) -> None:
    admin = AdminClient({"bootstrap.servers": layout.bootstrap, "log_level": 0})
    created = admin.create_topics([NewTopic(TOPIC, num_partitions=PARTITIONS)])
    created[TOPIC].result()


def _status(layout: ClusterLayout) -> ClusterStatus:
    return with_admin(layout.bootstrap, ask_status)


def _wait_in_sync(layout: ClusterLayout) -> None:
    clock = SystemClock()
    deadline = clock.monotonic() + IN_SYNC_SECONDS
    while not _status(layout).is_well:
        assert clock.monotonic() < deadline, "a node that came back is not in sync again"
        sleep_blocking(_POLL_SECONDS)


def _replicas(layout: ClusterLayout) -> Table:
    """The logs of all nodes, of which those of one partition are the same to the byte."""
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


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CommandError as error:
        open_terminal().complain(error)
        sys.exit(error.exit_code)
