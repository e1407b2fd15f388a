"""What part of a year a client with acks=all can write, from rolling restarts and kills in turn.

A client is without service while no record of one of the partitions is acknowledged for longer than
`GAP_S_MIN`. A year is taken to have a rolling restart each week and a SIGKILL of each node each
month. Requirement N1 is 99.99 % of the year.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice

from benchmarks.cluster.clusters import NODES, Cluster, OttlaCluster, fresh_cluster
from benchmarks.cluster.node_process import NodeProcess
from benchmarks.cluster.steady_producer import SteadyProducer
from benchmarks.cluster.topics import replicated_topic, wait_in_step
from benchmarks.cluster.view import wait_until
from benchmarks.figure import Figure
from benchmarks.versus.comparison import Bound, Report

PARTITIONS = NODES
GAP_S_MIN = 0.1
BEHIND_S_MAX = 0.5
# Of steady producing after a node has caught up.
STEADY_S = 1.0
YEAR_S = 365 * 24 * 3600.0
RESTARTS_A_YEAR = 52
KILLS_A_YEAR = 12 * NODES
UNAVAILABLE_MINUTES_MAX = YEAR_S / 60 * 0.0001


@dataclass(frozen=True, slots=True)
class Downtime:
    """Of one rolling restart, or of one kill."""

    seconds: float
    longest_gap_s: float


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:  # noqa: ARG001
    """Measures Ottla alone."""
    rounds = 2 if quick else 10
    with fresh_cluster(OttlaCluster) as cluster:
        report("availability: starting the nodes")
        cluster.start()
        restarts = [
            _measured(cluster, cluster.nodes, _restart, report, f"rolling restart {number + 1}")
            for number in range(rounds)
        ]
        kills = [
            _measured(cluster, (node,), _kill, report, f"SIGKILL of node {node.id}")
            for node in islice(cycle(cluster.nodes), rounds)
        ]
    yield from _figures("rolling restart", restarts)
    yield from _figures("SIGKILL of a node", kills)
    yield _of_a_year(restarts, kills)


def _measured(
    cluster: Cluster,
    victims: tuple[NodeProcess, ...],
    strike: Callable[[NodeProcess], None],
    report: Report,
    what: str,
) -> Downtime:
    report(f"availability: {what}")
    with (
        replicated_topic(cluster, partitions=PARTITIONS) as topic,
        SteadyProducer(cluster.bootstrap, topic, partitions=PARTITIONS) as producer,
    ):
        _wait_acknowledged(producer)
        time.sleep(STEADY_S)
        started_s = time.perf_counter()
        for victim in victims:
            strike(victim)
            cluster.wait_ready()
            wait_in_step(cluster, topic, partitions=PARTITIONS)
            _wait_acknowledged(producer)
            time.sleep(STEADY_S)
        return Downtime(
            producer.without_acknowledgement_s(since_s=started_s, gap_s_min=GAP_S_MIN),
            producer.longest_gap_s(since_s=started_s),
        )


def _wait_acknowledged(producer: SteadyProducer) -> None:
    wait_until(lambda: producer.behind_s() < BEHIND_S_MAX, what="acknowledgements")


def _restart(node: NodeProcess) -> None:
    node.request_stop()
    node.wait_stopped()
    node.start()


def _kill(node: NodeProcess) -> None:
    node.kill()
    time.sleep(STEADY_S)
    node.start()


def _figures(what: str, downtimes: list[Downtime]) -> Iterator[Figure]:
    yield Figure(f"without service per {what}, mean", _mean(downtimes), "s")
    longest_s = max(each.longest_gap_s for each in downtimes)
    yield Figure(f"longest gap, {what}", longest_s, "s")


def _mean(downtimes: list[Downtime]) -> float:
    return sum(each.seconds for each in downtimes) / len(downtimes)


def _of_a_year(restarts: list[Downtime], kills: list[Downtime]) -> Figure:
    seconds = RESTARTS_A_YEAR * _mean(restarts) + KILLS_A_YEAR * _mean(kills)
    bound = Bound(value_max=UNAVAILABLE_MINUTES_MAX)
    return Figure(
        f"without service in a year, {100 - 100 * seconds / YEAR_S:.5f} % available",
        seconds / 60,
        "minutes",
        bound=bound.text("minutes"),
        holds=bound.holds(seconds / 60, None),
    )
