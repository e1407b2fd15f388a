"""Producing to three nodes as fast as they take it; what that costs them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.cluster.amount import Amount
from benchmarks.cluster.clusters import Cluster
from benchmarks.cluster.topics import replicated_topic
from benchmarks.figure import Figure
from benchmarks.versus.clients import ProgramClient
from benchmarks.versus.comparison import Bound, Report, alternate, compared
from benchmarks.versus.produce import Spent, speed_and_cpu

PARTITIONS = 6
SIZE = 1_000
SETTINGS = {"acks": "all"}


def figures(
    clusters: Sequence[Cluster], client: ProgramClient, amount: Amount, report: Report
) -> Iterator[Figure]:
    """Both clusters run all the while and are loaded in turn."""
    alternate(
        clusters,
        lambda cluster: produce(cluster, client, amount.scale.warmup_bytes),
        rounds=1,
        what="warming up",
        report=report,
    )
    samples = alternate(
        clusters,
        lambda cluster: produce(cluster, client, amount.scale.produced_bytes),
        rounds=amount.scale.rounds,
        what="produce",
        report=report,
    )
    load = "1 KB, acks=all, 3 replicas"
    yield from speed_and_cpu(
        f"produce {load} ({client.name})",
        f"CPU of the three per GB produced, {load} ({client.name})",
        samples,
        Bound(ratio_min=1.5),
    )
    yield compared(
        "resident memory of the three after this",
        "MB",
        {cluster.name: [cluster.resident_bytes() / 1e6] for cluster in clusters},
        lambda size: size,
        Bound(ratio_max=1 / 8),
    )


def produce(cluster: Cluster, client: ProgramClient, size_bytes: int) -> Spent:
    with replicated_topic(cluster, partitions=PARTITIONS) as name:
        before_s = cluster.cpu_seconds()
        run = client.produce(
            cluster.bootstrap, name, count=size_bytes // SIZE, size=SIZE, settings=SETTINGS
        )
        return Spent(run, cluster.cpu_seconds() - before_s, size_bytes)
