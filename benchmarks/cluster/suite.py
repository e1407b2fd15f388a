"""The whole comparison of clusters in its order: starts, load, faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.cluster import failover, starts, throughput
from benchmarks.cluster.amount import FULL, QUICK
from benchmarks.cluster.clusters import Cluster, KafkaCluster, OttlaCluster, fresh_cluster
from benchmarks.figure import Figure
from benchmarks.versus.clients import loading_client
from benchmarks.versus.comparison import Report, available, started, unbound


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures figure by figure; `note` is called with what this machine lacks."""
    amount = QUICK if quick else FULL
    kinds: list[type[Cluster]] = available(OttlaCluster, KafkaCluster, note)
    yield from starts.figures(kinds, amount, report)
    client, is_bounded = loading_client(note)
    with started(map(fresh_cluster, kinds), report) as clusters:
        for figure in throughput.figures(clusters, client, amount, report):
            yield figure if is_bounded else unbound(figure)
    yield from failover.figures(kinds, amount, report)
