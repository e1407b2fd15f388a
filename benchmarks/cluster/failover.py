"""What a producer gets to see when a node is killed or paused: the time without acknowledgements.

Each round has a topic of its own, led by each of the nodes once. The longest gap is that of the
partition that is worst: that of the node that was hit, or another one that waits for its replica.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.cluster.amount import Amount
from benchmarks.cluster.clusters import NODES, Cluster, fresh_cluster
from benchmarks.cluster.node_process import NodeProcess
from benchmarks.cluster.steady_producer import SteadyProducer
from benchmarks.cluster.topics import is_led, replicated_topic, wait_in_step
from benchmarks.cluster.view import (
    active_controller,
    partitions_of,
    wait_partitions,
    wait_until,
)
from benchmarks.figure import Figure
from benchmarks.versus.comparison import NO_BOUND, Bound, Report, Samples, compared
from benchmarks.versus.wire_client import WireError, order_topics

PARTITIONS = NODES
# Of steady producing before the fault, and of watching after it.
STEADY_S = 2.0
# The records that come now are acknowledged again.
BEHIND_S_MAX = 0.5
RECOVERY_TIMEOUT_S = 120.0
# What a start leaves to be done, a virtual machine's compiling above all.
SETTLE_S = 3.0
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Outage:
    gap_s: float
    # Until the cluster itself had dealt with it: another leader, another controller.
    mended_s: float


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    mended_name: str
    is_of_controller: bool
    strike: Callable[[NodeProcess], None]
    undo: Callable[[NodeProcess], None]
    wait_mended: Callable[[Cluster, NodeProcess, str], None]
    rounds: Callable[[Amount], int]
    gap_bound: Bound = NO_BOUND
    gap_bound_of_worst: Bound = NO_BOUND
    mended_bound: Bound = NO_BOUND


def figures(kinds: Sequence[type[Cluster]], amount: Amount, report: Report) -> Iterator[Figure]:
    """One cluster at a time: the one that is not hit would only take the other's processor."""
    outages: dict[str, Samples[Outage]] = {
        fault.name: {kind.name: [] for kind in kinds} for fault in FAULTS
    }
    for kind in kinds:
        with fresh_cluster(kind) as cluster:
            report(f"failover: starting {kind.name}")
            cluster.start()
            for fault in FAULTS:
                rounds = fault.rounds(amount)
                for number in range(rounds):
                    report(f"{fault.name}: {kind.name}, round {number + 1} of {rounds}")
                    outages[fault.name][kind.name].append(_outage(cluster, fault))
    for fault in FAULTS:
        if fault.rounds(amount):
            yield from _figures_of(fault, outages[fault.name])


def _figures_of(fault: Fault, samples: Samples[Outage]) -> Iterator[Figure]:
    gap = f"{fault.name}: longest gap"
    yield compared(f"{gap}, median", "s", samples, lambda outage: outage.gap_s, fault.gap_bound)
    yield compared(
        f"{gap}, worst",
        "s",
        samples,
        lambda outage: outage.gap_s,
        fault.gap_bound_of_worst,
        of_rounds=max,
    )
    yield compared(
        f"{fault.name}: {fault.mended_name}, worst",
        "s",
        samples,
        lambda outage: outage.mended_s,
        fault.mended_bound,
        of_rounds=max,
    )


def _outage(cluster: Cluster, fault: Fault) -> Outage:
    time.sleep(SETTLE_S)
    with (
        replicated_topic(cluster, partitions=PARTITIONS) as topic,
        SteadyProducer(cluster.bootstrap, topic, partitions=PARTITIONS) as producer,
    ):
        wait_until(lambda: producer.behind_s() < BEHIND_S_MAX, what="acknowledgements")
        time.sleep(STEADY_S)
        victim = _victim(cluster, topic, is_controller=fault.is_of_controller)
        struck_s = time.perf_counter()
        fault.strike(victim)
        fault.wait_mended(cluster, victim, topic)
        mended_s = time.perf_counter() - struck_s
        time.sleep(STEADY_S)
        # Where nothing comes in all that time, the gap is counted as that long and ends with the
        # return of the node.
        with contextlib.suppress(WireError):
            wait_until(
                lambda: producer.behind_s() < BEHIND_S_MAX,
                what="acknowledgements",
                timeout_s=RECOVERY_TIMEOUT_S,
            )
        time.sleep(STEADY_S)
        gap_s = producer.longest_gap_s(since_s=struck_s)
        fault.undo(victim)
        cluster.wait_ready()
        wait_in_step(cluster, topic, partitions=PARTITIONS)
    return Outage(gap_s, mended_s)


def _victim(cluster: Cluster, topic: str, *, is_controller: bool) -> NodeProcess:
    """The active controller, or a leader that is not it: one loss at a time."""
    address = cluster.nodes[0].address
    controller = active_controller(address)
    if is_controller:
        return cluster.node(controller)
    leaders = {partition.leader_id for partition in partitions_of(address, [topic])}
    return cluster.node(min(leaders - {controller}))


def _wait_led_elsewhere(cluster: Cluster, victim: NodeProcess, topic: str) -> None:
    wait_partitions(
        cluster.addresses_without(victim),
        [topic],
        lambda partition: is_led(partition) and partition.leader_id != victim.id,
        count=PARTITIONS,
        what="another leader",
    )


def _wait_controlled(cluster: Cluster, victim: NodeProcess, topic: str) -> None:
    """Until a topic can be made again, by a request to a node that lives."""
    address = cluster.addresses_without(victim)[0]
    name = f"{topic}-made-{next(_numbers)}"

    def is_made() -> bool:
        try:
            order_topics(address, [name], partitions=1, replication_factor=1)
        except WireError:
            return False
        return True

    wait_until(is_made, what="another controller")


FAULTS = (
    Fault(
        "SIGKILL of a leader",
        "led by another",
        is_of_controller=False,
        strike=NodeProcess.kill,
        undo=NodeProcess.start,
        wait_mended=_wait_led_elsewhere,
        rounds=lambda amount: amount.faults,
        gap_bound_of_worst=Bound(value_max=2),
    ),
    Fault(
        "SIGKILL of the active controller",
        "a topic made",
        is_of_controller=True,
        strike=NodeProcess.kill,
        undo=NodeProcess.start,
        wait_mended=_wait_controlled,
        rounds=lambda amount: amount.faults,
        gap_bound_of_worst=Bound(value_max=5),
        mended_bound=Bound(value_max=5),
    ),
    Fault(
        "SIGSTOP of a leader",
        "led by another",
        is_of_controller=False,
        strike=NodeProcess.pause,
        undo=NodeProcess.resume,
        wait_mended=_wait_led_elsewhere,
        rounds=lambda amount: amount.pauses,
        # A minute of either side's is the client's patience with a connection that stays open, and
        # a second or two is when it looks.
        gap_bound=Bound(ratio_max=1.05),
    ),
)
