"""The whole comparison of clusters in its order: starts, load, faults."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from benchmarks.cluster import failover, starts, throughput
from benchmarks.cluster.amount import FULL, QUICK
from benchmarks.cluster.clusters import Cluster, KafkaCluster, OttlaCluster, fresh_cluster
from benchmarks.figure import Figure
from benchmarks.versus.clients import loading_client
from benchmarks.versus.comparison import Report, unbound
from tests.conformance.kafka.process import reason_unavailable


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures figure by figure; `note` is told what this machine lacks."""
    amount = QUICK if quick else FULL
    reason = reason_unavailable()
    kinds: list[type[Cluster]] = [OttlaCluster]
    if reason is None:
        kinds.append(KafkaCluster)
    else:
        note(f"Ottla alone, without Apache Kafka beside it: {reason}")
    yield from starts.figures(kinds, amount, report)
    client, is_bounded = loading_client(note)
    with contextlib.ExitStack() as stack:
        clusters = [stack.enter_context(fresh_cluster(kind)) for kind in kinds]
        for cluster in clusters:
            report(f"starting {cluster.name}")
            cluster.start()
        for figure in throughput.figures(clusters, client, amount, report):
            yield figure if is_bounded else unbound(figure)
    yield from failover.figures(kinds, amount, report)
