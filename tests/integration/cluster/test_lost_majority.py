"""Two of three replicas are lost: nothing is acknowledged, and what was is there when they return,
in whichever order they do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest
from confluent_kafka import KafkaError

from tests.integration.cluster.agreement import assert_everything_is_there, assert_read_back
from tests.integration.cluster.cluster_view import create_topic, wait_in_sync
from tests.integration.cluster.load import Reader, TimedProducer, refused_write
from tests.support.nodes.cluster_processes import ClusterProcesses
from tests.support.soak import IS_SOAK

TOPIC = "load"
PARTITIONS = 3
SURVIVOR = 1
STEADY = 50
ORDERS = list(permutations((1, 2, 3))) if IS_SOAK else [(3, 2, 1)]


@pytest.mark.parametrize("order", [(2, 3), (3, 2)] if IS_SOAK else [(2, 3)])
def test_writes_are_refused_while_two_nodes_of_three_are_stopped(
    tmp_path: Path, order: Sequence[int]
) -> None:
    with ClusterProcesses(tmp_path) as cluster:
        create_topic(cluster, TOPIC, [(SURVIVOR, 2, 3)] * PARTITIONS)
        with Reader(cluster.client, TOPIC, PARTITIONS) as reader:
            with TimedProducer(cluster.client, TOPIC, PARTITIONS) as producer:
                producer.wait_acknowledged(more=STEADY)
                for node_id in (2, 3):
                    cluster.nodes[node_id].stop()
                wait_in_sync(cluster, TOPIC, isr=(SURVIVOR,))
                refused = refused_write(cluster.client, TOPIC)
                assert refused == KafkaError.NOT_ENOUGH_REPLICAS
                for node_id in order:
                    cluster.start([cluster.nodes[node_id]])
                wait_in_sync(cluster, TOPIC)
                producer.wait_acknowledged(more=STEADY)
            assert_read_back(producer, reader)
        assert_everything_is_there(cluster, producer)
    print(f"\ntwo stopped, back as {order}: {producer.summary}")


@pytest.mark.parametrize("order", ORDERS)
def test_brokers_that_died_one_after_the_other_return_in_any_order(
    tmp_path: Path, order: Sequence[int]
) -> None:
    """The controller lives on, in a process of its own, and knows who was in sync."""
    with ClusterProcesses(tmp_path, brokers=(1, 2, 3), controllers=(4,)) as cluster:
        create_topic(cluster, TOPIC, [(SURVIVOR, 2, 3)] * PARTITIONS)
        with Reader(cluster.client, TOPIC, PARTITIONS) as reader:
            with TimedProducer(cluster.client, TOPIC, PARTITIONS) as producer:
                producer.wait_acknowledged(more=STEADY)
                cluster.nodes[2].kill()
                wait_in_sync(cluster, TOPIC, isr=(SURVIVOR, 3))
                producer.wait_acknowledged(more=STEADY)
                cluster.nodes[3].kill()
                wait_in_sync(cluster, TOPIC, isr=(SURVIVOR,))
                refused = refused_write(cluster.client, TOPIC)
                assert refused == KafkaError.NOT_ENOUGH_REPLICAS
                cluster.nodes[SURVIVOR].kill()
                for node_id in order:
                    cluster.start([cluster.nodes[node_id]])
                wait_in_sync(cluster, TOPIC)
                producer.wait_acknowledged(more=STEADY)
            assert_read_back(producer, reader)
        assert_everything_is_there(cluster, producer)
    print(f"\nall died, back as {order}: {producer.summary}")
