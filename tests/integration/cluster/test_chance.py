"""All three nodes have their misfortunes at the same time, by chance; in the end nothing is lost.

With two of them away at once nothing is acknowledged, and that is all that may happen.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path

import pytest

from ottla.simulation.seams.dice import SeededDice
from tests.integration.cluster.agreement import assert_everything_is_there, assert_read_back
from tests.integration.cluster.cluster_view import create_topic, wait_in_sync
from tests.integration.cluster.load import Reader, TimedProducer
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, in_parallel
from tests.support.soak import IS_SOAK

TOPIC = "load"
REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
SEEDS = range(10)
TROUBLED_SECONDS = 30.0
STEADY = 50
# A paused node is fenced before it goes on, or is not.
PROPERTIES = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "500"}
CONFIGS = {"segment.bytes": str(1 << 20)}


@pytest.mark.skipif(not IS_SOAK, reason="takes minutes: make soak")
@pytest.mark.parametrize("seed", SEEDS)
def test_everything_acknowledged_outlives_misfortunes_by_chance(tmp_path: Path, seed: int) -> None:
    with ClusterProcesses(tmp_path, PROPERTIES) as cluster:
        create_topic(cluster, TOPIC, REPLICAS, CONFIGS)
        with Reader(cluster.client, TOPIC, len(REPLICAS)) as reader:
            with TimedProducer(cluster.client, TOPIC, len(REPLICAS), value_bytes=500) as producer:
                producer.wait_acknowledged(more=STEADY)
                end = time.perf_counter() + TROUBLED_SECONDS
                in_parallel(
                    partial(trouble, node, SeededDice(f"{seed}-{node.id}"), end)
                    for node in cluster.brokers
                )
                producer.wait_acknowledged(more=STEADY)
                wait_in_sync(cluster, TOPIC)
            assert_read_back(producer, reader)
        assert_everything_is_there(cluster, producer)
    print(f"\nchance, seed {seed}: {producer.summary}")


def trouble(node: NodeOfCluster, dice: SeededDice, end: float) -> None:
    """Leaves the node running and ready."""
    while time.perf_counter() < end:
        wait_up_to(dice, seconds=4.0)
        match dice.choice(("kill", "kill while starting", "stop", "pause")):
            case "kill":
                node.kill()
                wait_up_to(dice, seconds=3.0)
                node.start()
                node.wait_ready()
            case "kill while starting":
                node.kill()
                node.start()
                wait_up_to(dice, seconds=1.0)
                node.kill()
                node.start()
                node.wait_ready()
            case "stop":
                node.stop()
                wait_up_to(dice, seconds=3.0)
                node.start()
                node.wait_ready()
            case "pause":
                node.pause()
                wait_up_to(dice, seconds=4.0)
                node.resume()


def wait_up_to(dice: SeededDice, *, seconds: float) -> None:
    """How long a state lasts; nothing is waited for."""
    threading.Event().wait(dice.between(low=0, high=int(seconds * 1_000)) / 1_000)
