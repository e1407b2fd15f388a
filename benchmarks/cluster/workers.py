"""What several workers of one host cost: processor time per GB, beside one node's.

`ottla start --workers` runs them. With two cores, which the clients share, more workers bring no
more throughput here; the figures show that the work is not more, only spread.

The bound is on the time of nodes and client together. On the loopback interface the kernel does
the work of receiving in the context of whoever sends, unless the receiver holds its socket at that
moment; with more sockets more of the client's work is counted as a node's.
"""

from __future__ import annotations

import contextlib
import itertools
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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


class Cost(NamedTuple):
    """Processor seconds per GB."""

    nodes_s: float
    all_s: float  # Of the nodes and the client.


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures Ottla alone: each number of workers beside the smallest one."""
    client, _ = loading_client(note)
    count = (300 if quick else 1_000) * 1_000
    for replication, numbers in ((1, (1, 2, 4)), (3, (3, 6))):
        least: tuple[Cost, Cost] | None = None
        for workers in numbers:
            report(f"workers: {workers} of replication {replication}")
            with workers_of(workers) as host:
                costs = _costs(host, client, replication=replication, count=count)
            least = least or costs
            named = "1 worker" if workers == 1 else f"{workers} workers"
            for what, cost, against in zip(("produced", "consumed"), costs, least, strict=True):
                of = f"CPU per GB {what}, {named}, replication {replication}"
                yield Figure(f"{of}: nodes", cost.nodes_s, "s", against=against.nodes_s)
                yield Figure(
                    f"{of}: nodes and client",
                    cost.all_s,
                    "s",
                    against=against.all_s,
                    bound=CPU_BOUND.text("s") if workers > numbers[0] else "",
                    holds=CPU_BOUND.holds(cost.all_s, against.all_s),
                )


def _costs(
    host: WorkersHost, client: ProgramClient, *, replication: int, count: int
) -> tuple[Cost, Cost]:
    """Of producing and of consuming; the first round only warms up."""
    _round(host, client, replication=replication, count=count // 2)
    rounds = [_round(host, client, replication=replication, count=count) for _ in range(3)]
    produced, consumed = zip(*rounds, strict=True)
    return _median(produced), _median(consumed)


def _median(costs: Sequence[Cost]) -> Cost:
    return sorted(costs, key=lambda cost: cost.all_s)[len(costs) // 2]


def _round(
    host: WorkersHost, client: ProgramClient, *, replication: int, count: int
) -> tuple[Cost, Cost]:
    topic = f"workers-{next(_numbers)}"
    create_topics(host.address, [topic], partitions=PARTITIONS, replication_factor=replication)
    gigabytes = count * SIZE / GIGABYTE
    started = _cpu(host)
    client.produce(host.address, topic, count=count, size=SIZE, settings={"acks": "all"})
    produced = _cpu(host)
    client.consume(host.address, topic, partitions=PARTITIONS, count=count)
    consumed = _cpu(host)
    delete_topic(host.address, topic)
    return (
        Cost(
            *((after - before) / gigabytes for before, after in zip(started, produced, strict=True))
        ),
        Cost(
            *(
                (after - before) / gigabytes
                for before, after in zip(produced, consumed, strict=True)
            )
        ),
    )


def _cpu(host: WorkersHost) -> Cost:
    """Until now; a client counts when it has ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    nodes_s = host.cpu_seconds()
    return Cost(nodes_s, nodes_s + ended.ru_utime + ended.ru_stime)
