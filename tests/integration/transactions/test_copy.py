"""The copy test: records copied from topic to topic in transactions by several processes that are
killed and started again while nodes are; read_committed consumers find each exactly once.

Small here, and with OTTLA_SOAK=1 (`make copy`) 100,000 records in transactions of 750.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Final, Self

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.conformance.kafka.process import reason_unavailable
from tests.integration.cluster.cluster_view import create_topic, wait_in_sync
from tests.integration.cluster.clusters import PLAINTEXT, SECURED, running_cluster
from tests.integration.transactions.committed_reader import read_committed
from tests.integration.transactions.copier import Order
from tests.integration.transactions.copiers import Copiers, command, java_command
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until
from tests.support.soak import IS_SOAK, at_scale

SOURCE, TARGET, GROUP = "source", "target", "copiers"
REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 3, 2)]
RECORDS: Final = at_scale(quick=4_000, soak=100_000)
TRANSACTION_SIZE: Final = at_scale(quick=50, soak=750)
WORK_MS: Final = at_scale(quick=20, soak=500)
COPIERS: Final = at_scale(quick=2, soak=4)
COPY_SECONDS_MAX: Final = at_scale(quick=90, soak=600)
# As parts of all records: a misfortune whenever so many more were copied.
STEP: Final = 0.15 if not IS_SOAK else 0.04
# Longer than a session, so that somebody else goes on with its partitions.
ZOMBIE_SECONDS: Final = 3.0
PROPERTIES = {
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}


@pytest.mark.parametrize("kind", [PLAINTEXT, SECURED])
def test_each_record_is_copied_exactly_once_despite_kills(tmp_path: Path, kind: str) -> None:
    with running_cluster(kind, tmp_path, PROPERTIES) as cluster:
        orders = [order(cluster, number) for number in range(COPIERS)]
        copy(cluster, [command(each) for each in orders], tmp_path)


@pytest.mark.java
@pytest.mark.skipif(not IS_SOAK, reason="takes minutes: make copy")
@pytest.mark.skipif(bool(reason_unavailable()), reason="needs Apache Kafka's jars")
def test_the_same_with_kafkas_own_copiers(tmp_path: Path) -> None:
    with ClusterProcesses(tmp_path, PROPERTIES) as cluster:
        # They have no work to do within a transaction, and would be through before many are killed.
        orders = [
            order(cluster, index)._replace(transaction_size=TRANSACTION_SIZE // 10)
            for index in range(len(REPLICAS))
        ]
        commands = [java_command(each, index) for index, each in enumerate(orders)]
        copy(cluster, commands, tmp_path)


def copy(cluster: ClusterProcesses, commands: list[list[str]], scratch: Path) -> None:
    for topic in (SOURCE, TARGET):
        create_topic(cluster, topic, REPLICAS)
    fill(cluster)
    started = time.perf_counter()
    with Copiers(commands, scratch / "copiers.txt") as copiers, Progress(cluster) as progress:
        misfortunes = trouble(cluster, copiers, progress)
        seconds = time.perf_counter() - started
    wait_in_sync(cluster, TARGET)
    end_transactions(cluster, len(commands))
    copied = read_committed(cluster.client, TARGET, len(REPLICAS))
    cluster.assert_no_traceback()
    assert_exactly_once(copied)
    print(
        f"\ncopied {RECORDS} records in {seconds:.1f} s, with {misfortunes} misfortunes; copiers "
        f"ended with {dict(copiers.ends)} (load {os.getloadavg()[0]:.1f})"
    )


def order(cluster: ClusterProcesses, number: int) -> Order:
    return Order(
        json.dumps(cluster.client),
        GROUP,
        f"copier-{number}",
        SOURCE,
        TARGET,
        TRANSACTION_SIZE,
        WORK_MS,
    )


def fill(cluster: ClusterProcesses) -> None:
    producer = Producer({**cluster.client, "enable.idempotence": True})
    for number in range(RECORDS):
        while True:
            try:
                producer.produce(SOURCE, str(number), partition=number % len(REPLICAS))
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(60) == 0


class Progress:
    """How far the group has come, as it is known to be committed."""

    def __init__(self, cluster: ClusterProcesses) -> None:
        self._partitions = [TopicPartition(SOURCE, index) for index in range(len(REPLICAS))]
        self._offsets_reader = Consumer(
            {
                **cluster.client,
                "group.id": GROUP,
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._offsets_reader.close()

    def wait(self, goal: int) -> None:
        """Returns when so many records were copied."""
        wait_until(
            lambda: self._copied() >= goal,
            f"{goal} of {RECORDS} records are copied",
            seconds_max=COPY_SECONDS_MAX,
        )

    def _copied(self) -> int:
        try:
            committed = self._offsets_reader.committed(self._partitions, timeout=5)
        except KafkaException:
            # The coordinator is gone, or has just come.
            return 0
        return sum(max(each.offset, 0) for each in committed if each.error is None)


def trouble(cluster: ClusterProcesses, copiers: Copiers, progress: Progress) -> int:
    """Kills somebody whenever some more was copied, until all of it is; says how often."""
    nodes = cycle(cluster.brokers)
    count, goal = 0, 0.0
    for misfortune in cycle(("copier", "node", "zombie", "both", "stop")):
        goal += STEP
        if goal >= 1:
            break
        progress.wait(int(goal * RECORDS))
        if misfortune in ("copier", "both"):
            copiers.kill_one()
        if misfortune == "zombie":
            copiers.make_zombie(seconds=ZOMBIE_SECONDS)
        if misfortune in ("node", "both", "stop"):
            restart(next(nodes), orderly=misfortune == "stop")
        count += 1
    progress.wait(RECORDS)
    return count


def restart(node: NodeOfCluster, *, orderly: bool) -> None:
    if orderly:
        node.stop()
    else:
        node.kill()
    node.start()
    node.wait_ready()


def end_transactions(cluster: ClusterProcesses, count: int) -> None:
    """Takes the copiers' places: what they left open would hide what was committed after it."""
    for number in range(count):
        producer = Producer(
            {
                **cluster.client,
                "transactional.id": order(cluster, number).transactional_id,
            }
        )
        producer.init_transactions(30)


def assert_exactly_once(copied: list[list[int]]) -> None:
    counts = Counter(number for partition in copied for number in partition)
    missing = sorted(set(range(RECORDS)) - counts.keys())
    twice = sorted(number for number, count in counts.items() if count > 1)
    assert not missing, f"{len(missing)} are missing: {missing[:20]}"
    assert not twice, f"{len(twice)} came more than once: {twice[:20]}"
    # In order too: each partition is copied into its own.
    for partition in copied:
        assert partition == sorted(partition)
