"""How long three processes take to become a cluster: for the first time, and over their data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.cluster.amount import Amount
from benchmarks.cluster.clusters import NODES, Cluster, fresh_cluster
from benchmarks.cluster.topics import is_led
from benchmarks.cluster.view import wait_partitions
from benchmarks.figure import Figure
from benchmarks.versus.comparison import Bound, Report, alternate, compared
from benchmarks.versus.wire_client import create_topics

PARTITIONS = 12
TOPIC = "started"


@dataclass(frozen=True, slots=True)
class Start:
    first_s: float
    again_s: float


def figures(kinds: Sequence[type[Cluster]], amount: Amount, report: Report) -> Iterator[Figure]:
    samples = alternate(kinds, _start, rounds=amount.scale.starts, what="start", report=report)
    bound = Bound(value_max=2)
    led = f"a topic of {PARTITIONS} led"
    yield compared(
        f"first start of {NODES}, {led}", "s", samples, lambda start: start.first_s, bound
    )
    yield compared(f"restart of {NODES}, {led}", "s", samples, lambda start: start.again_s, bound)


def _start(kind: type[Cluster]) -> Start:
    with fresh_cluster(kind) as cluster:
        started = time.perf_counter()
        cluster.start()
        address = cluster.nodes[0].address
        create_topics(address, [TOPIC], partitions=PARTITIONS, replication_factor=NODES)
        _wait_led(cluster)
        first_s = time.perf_counter() - started
        cluster.stop()
        started = time.perf_counter()
        cluster.start()
        _wait_led(cluster)
        return Start(first_s, time.perf_counter() - started)


def _wait_led(cluster: Cluster) -> None:
    wait_partitions(cluster.addresses, [TOPIC], is_led, count=PARTITIONS, what="all led")
