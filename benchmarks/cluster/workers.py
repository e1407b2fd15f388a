"""What several workers of one host cost: processor time per GB, beside one node's.

`ottla start --workers` runs them. With two cores, which the clients share, more workers bring no
more throughput here; the figures show that the work is not more, only spread.
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.cluster.clusters import HOST, ottla_program
from benchmarks.figure import Figure
from benchmarks.versus.clients import ProgramClient, loading_client
from benchmarks.versus.comparison import Bound, Report
from benchmarks.versus.process_usage import cpu_seconds
from benchmarks.versus.servers import STOP_TIMEOUT_S
from benchmarks.versus.wire_client import create_topics, delete_topic
from ottla.runtime.dice import SystemDice
from ottla.runtime.free_ports import free_ports

PARTITIONS = 12
SIZE = 1_000
GIGABYTE = 1_000_000_000
CPU_BOUND = Bound(ratio_max=1.1)
_numbers = itertools.count()


class WorkersHost:
    """Ready when made; `workers_of` stops it."""

    def __init__(self, scratch: Path, count: int) -> None:
        self.count = count
        # The ports of other workers are at multiples of 100 above it, and most likely free.
        self.address = f"{HOST}:{free_ports(SystemDice(), HOST, count=2)[0]}"
        place = ("--data-dir", str(scratch), "--listen", self.address)
        self.process = subprocess.Popen(
            [ottla_program(), "start", *place, "--workers", str(count)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("Ready on "):
                break

    def cpu_seconds(self) -> float:
        """Of the supervisor and its workers."""
        return cpu_seconds(self.process.pid)


@contextlib.contextmanager
def workers_of(count: int) -> Iterator[WorkersHost]:
    scratch = Path(tempfile.mkdtemp(prefix="workers-"))
    try:
        host = WorkersHost(scratch, count)
        try:
            yield host
        finally:
            host.process.terminate()
            host.process.wait(STOP_TIMEOUT_S)
    finally:
        shutil.rmtree(scratch)


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures Ottla alone: each number of workers beside the smallest one."""
    client, _ = loading_client(note)
    count = (300 if quick else 1_000) * 1_000
    for replication, numbers in ((1, (1, 2, 4)), (3, (3, 6))):
        least: tuple[float, float] | None = None
        for workers in numbers:
            report(f"workers: {workers} of replication {replication}")
            with workers_of(workers) as host:
                costs = _costs(host, client, replication=replication, count=count)
            least = least or costs
            named = "1 worker" if workers == 1 else f"{workers} workers"
            for what, cost, against in zip(("produced", "consumed"), costs, least, strict=True):
                yield Figure(
                    f"CPU per GB {what}, {named}, replication {replication}",
                    cost,
                    "s",
                    against=against,
                    bound=CPU_BOUND.text("s") if workers > numbers[0] else "",
                    holds=CPU_BOUND.holds(cost, against),
                )


def _costs(
    host: WorkersHost, client: ProgramClient, *, replication: int, count: int
) -> tuple[float, float]:
    """Of producing and of consuming; the first round only warms up."""
    _round(host, client, replication=replication, count=count // 2)
    rounds = [_round(host, client, replication=replication, count=count) for _ in range(3)]
    produced, consumed = zip(*rounds, strict=True)
    return sorted(produced)[1], sorted(consumed)[1]


def _round(
    host: WorkersHost, client: ProgramClient, *, replication: int, count: int
) -> tuple[float, float]:
    topic = f"workers-{next(_numbers)}"
    create_topics(host.address, [topic], partitions=PARTITIONS, replication_factor=replication)
    before_s = host.cpu_seconds()
    client.produce(host.address, topic, count=count, size=SIZE, settings={"acks": "all"})
    produced_s = host.cpu_seconds() - before_s
    before_s = host.cpu_seconds()
    client.consume(host.address, topic, partitions=PARTITIONS, count=count)
    consumed_s = host.cpu_seconds() - before_s
    delete_topic(host.address, topic)
    gigabytes = count * SIZE / GIGABYTE
    return produced_s / gigabytes, consumed_s / gigabytes
