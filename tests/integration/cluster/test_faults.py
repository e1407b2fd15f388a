"""Nodes are stopped, killed and paused under load: nothing acknowledged is lost, doubled or moved.

`make test` runs some of it, `make soak` all of it, several times and at Kafka's own timeouts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.integration.cluster.agreement import assert_everything_is_there, assert_read_back
from tests.integration.cluster.cluster_view import active_controller, create_topic, wait_in_sync
from tests.integration.cluster.clusters import PLAINTEXT, SECURED, running_cluster
from tests.integration.cluster.load import Reader, TimedProducer
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, in_parallel
from tests.support.soak import IS_SOAK, at_scale

TOPIC = "load"
PARTITIONS = 3
REPETITIONS = at_scale(quick=1, soak=3)
# Writes that are acknowledged between two events.
STEADY = 50
PROPERTIES = {
    "broker.session.timeout.ms": str(at_scale(quick=3_000, soak=9_000)),
    "broker.heartbeat.interval.ms": str(at_scale(quick=500, soak=2_000)),
}
# For how long nobody answers, if all are paused.
PAUSE_SECONDS = 2.0


class Fault(NamedTuple):
    """What happens to one node, and how it comes back. A node that was paused is ready at once."""

    name: str
    strike: Callable[[NodeOfCluster], None]
    undo: Callable[[NodeOfCluster], None]


def _start(node: NodeOfCluster) -> None:
    node.start()
    node.wait_ready()


STOP = Fault("stop", NodeOfCluster.stop, _start)
KILL = Fault("kill", NodeOfCluster.kill, _start)
PAUSE = Fault("pause", NodeOfCluster.pause, NodeOfCluster.resume)

QUICK = [(STOP, "leader"), (KILL, "leader"), (PAUSE, "leader"), (KILL, "controller"), (KILL, "all")]
MATRIX = [
    (fault, victim)
    for fault in (STOP, KILL, PAUSE)
    for victim in ("leader", "follower", "controller", "all")
]
CASES = [
    *((PLAINTEXT, [each]) for each in (MATRIX if IS_SOAK else QUICK)),
    *((SECURED, [each]) for each in (MATRIX if IS_SOAK else ())),
    # One after the other, as starting a cluster takes longer than a fault.
    (SECURED, [(KILL, "leader"), (KILL, "controller"), (KILL, "all")]),
]


def assigned_roles(cluster: ClusterProcesses) -> dict[str, int]:
    """A topic with these replicas is led by one node, and another one is the active controller, so
    that a fault of either is no fault of the other."""
    controller = active_controller(cluster)
    leader, follower = (node.id for node in cluster.brokers if node.id != controller)
    return {"leader": leader, "follower": follower, "controller": controller}


def strike(
    cluster: ClusterProcesses, producer: TimedProducer, fault: Fault, victims: Sequence[int]
) -> None:
    nodes = [cluster.nodes[each] for each in victims]
    in_parallel(lambda node=node: fault.strike(node) for node in nodes)  # type: ignore[misc]
    if len(nodes) < len(cluster.brokers):
        producer.wait_acknowledged(more=STEADY)
    else:
        threading.Event().wait(PAUSE_SECONDS)
    in_parallel(lambda node=node: fault.undo(node) for node in nodes)  # type: ignore[misc]
    producer.wait_acknowledged(more=STEADY)


@pytest.mark.parametrize("repetition", range(REPETITIONS))
@pytest.mark.parametrize(
    ("kind", "strikes"),
    [
        pytest.param(
            kind, strikes, id="-".join([kind, *(f"{each.name}-{whom}" for each, whom in strikes)])
        )
        for kind, strikes in CASES
    ],
)
def test_everything_acknowledged_outlives(
    tmp_path: Path, kind: str, strikes: Sequence[tuple[Fault, str]], repetition: int
) -> None:
    with running_cluster(kind, tmp_path, PROPERTIES) as cluster:
        roles = assigned_roles(cluster)
        create_topic(cluster, TOPIC, [list(roles.values())] * PARTITIONS)
        with Reader(cluster.client, TOPIC, PARTITIONS) as reader:
            with TimedProducer(cluster.client, TOPIC, PARTITIONS) as producer:
                producer.wait_acknowledged(more=STEADY)
                for fault, victim in strikes:
                    victims = list(roles.values()) if victim == "all" else [roles[victim]]
                    strike(cluster, producer, fault, victims)
                    wait_in_sync(cluster, TOPIC)
            assert_read_back(producer, reader)
        assert_everything_is_there(cluster, producer)
    names = ", ".join(f"{fault.name} {victim}" for fault, victim in strikes)
    print(f"\n{kind}, {names}: {producer.summary}")


@pytest.mark.parametrize(
    "kind",
    [
        PLAINTEXT,
        pytest.param(
            SECURED, marks=pytest.mark.skipif(not IS_SOAK, reason="takes long: make soak")
        ),
    ],
)
def test_everything_acknowledged_outlives_restarts_of_one_node_after_the_other(
    tmp_path: Path, kind: str
) -> None:
    with running_cluster(kind, tmp_path, PROPERTIES) as cluster:
        create_topic(cluster, TOPIC, [(1, 2, 3), (2, 3, 1), (3, 1, 2)])
        with Reader(cluster.client, TOPIC, PARTITIONS) as reader:
            with TimedProducer(cluster.client, TOPIC, PARTITIONS) as producer:
                for _ in range(at_scale(quick=1, soak=5)):
                    for node in cluster.brokers:
                        producer.wait_acknowledged(more=STEADY)
                        node.stop()
                        _start(node)
                        wait_in_sync(cluster, TOPIC)
            assert_read_back(producer, reader)
        assert_everything_is_there(cluster, producer)
    print(f"\nrolling restart: {producer.summary}")
