"""A cluster that copies records in transactions is backed up, and restored as another cluster.

Small here, and with OTTLA_SOAK=1 several backups into one directory, with more of everything.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.conformance.kafka.process import reason_unavailable
from tests.integration.cluster.cluster_view import create_topic, wait_in_sync
from tests.integration.transactions.committed_reader import read_committed
from tests.integration.transactions.copier import Order
from tests.integration.transactions.copiers import Copiers, command, java_command
from tests.support.backup.restored_cluster import ottla, restore
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until
from tests.support.soak import IS_SOAK, at_scale

SOURCE, TARGET, GROUP = "source", "target", "copiers"
REPLICAS: Final = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
RECORDS: Final = at_scale(quick=1_500, soak=6_000)
BACKUPS: Final = at_scale(quick=1, soak=5)
COPIERS: Final = 2
# Slow enough that the copiers are still at work when the backup ends.
WORK_MS: Final = 150
PROPERTIES = {
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
}


def test_restored_cluster_has_each_transaction_as_a_whole(tmp_path: Path) -> None:
    check_restored_cluster(tmp_path, lambda cluster: orders(cluster, size=5))


@pytest.mark.java
@pytest.mark.skipif(not IS_SOAK, reason="the copiers of Java end too soon in the quick form")
@pytest.mark.skipif(bool(reason_unavailable()), reason="needs Apache Kafka's jars")
def test_the_same_with_transactions_of_their_own_epochs(tmp_path: Path) -> None:
    check_restored_cluster(tmp_path, java_orders)


def check_restored_cluster(
    tmp_path: Path, copier_commands: Callable[[ClusterProcesses], list[list[str]]]
) -> None:
    backup = tmp_path / "backup"
    with ClusterProcesses(tmp_path / "old", PROPERTIES) as cluster:
        for topic in (SOURCE, TARGET):
            create_topic(cluster, topic, REPLICAS)
        produce(cluster, range(RECORDS // 2))
        with Copiers(copier_commands(cluster), tmp_path / "copiers.txt"), producing(cluster):
            for number in range(BACKUPS):
                wait_copied(cluster, RECORDS // 8 + number * RECORDS // 16)
                ottla("backup", "--bootstrap", cluster.bootstrap, "--to", str(backup))
        cluster.assert_no_traceback()
    ottla("backup", "--verify", str(backup))

    restored = ClusterProcesses(tmp_path / "new", PROPERTIES)
    restore(restored, backup)
    with restored:
        for topic in (SOURCE, TARGET):
            wait_in_sync(restored, topic)
        sources = read_committed(restored.client, SOURCE, len(REPLICAS))
        # Everything that was acknowledged before.
        found = {number for partition in sources for number in partition}
        assert found >= set(range(RECORDS // 2))
        assert len(found) == sum(map(len, sources))
        assert_copied_up_to_committed_offsets(restored, sources)
        # The same transactional ids and the same group continue.
        with Copiers(orders(restored, size=100), tmp_path / "copiers-2.txt") as copiers:
            wait_copied(restored, len(found))
            assert not copiers.ends, copiers.said
        wait_until(
            lambda: sorted_copies(restored) == [sorted(each) for each in sources],
            "each record is copied exactly once",
        )
        restored.assert_no_traceback()


def assert_copied_up_to_committed_offsets(
    cluster: ClusterProcesses, sources: Sequence[Sequence[int]]
) -> None:
    committed = committed_offsets(cluster)
    copied = read_committed(cluster.client, TARGET, len(REPLICAS))
    assert 0 < sum(committed) < sum(map(len, sources))
    for partition, offset in enumerate(committed):
        assert copied[partition] == list(sources[partition][:offset])


def sorted_copies(cluster: ClusterProcesses) -> list[list[int]]:
    return [sorted(each) for each in read_committed(cluster.client, TARGET, len(REPLICAS))]


def orders(cluster: ClusterProcesses, *, size: int) -> list[list[str]]:
    client = json.dumps(cluster.client)
    return [
        command(Order(client, GROUP, f"copier-{number}", SOURCE, TARGET, size, WORK_MS))
        for number in range(COPIERS)
    ]


def java_orders(cluster: ClusterProcesses) -> list[list[str]]:
    client = json.dumps(cluster.client)
    return [
        java_command(Order(client, GROUP, f"java-{index}", SOURCE, TARGET, 5, 0), index)
        for index in range(len(REPLICAS))
    ]


def produce(cluster: ClusterProcesses, numbers: range) -> None:
    producer = Producer({**cluster.client, "enable.idempotence": True})
    for number in numbers:
        producer.produce(SOURCE, str(number), partition=number % len(REPLICAS))
        producer.poll(0)
    assert producer.flush(60) == 0


@contextmanager
def producing(cluster: ClusterProcesses) -> Iterator[None]:
    """Another producer writes the other half meanwhile, a few records at a time."""
    ends = threading.Event()

    def run() -> None:
        for first in range(RECORDS // 2, RECORDS, 10):
            if ends.is_set():
                return
            produce(cluster, range(first, min(first + 10, RECORDS)))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def committed_offsets(cluster: ClusterProcesses) -> list[int]:
    reader = Consumer({**cluster.client, "group.id": GROUP, "log_level": 0})
    places = [TopicPartition(SOURCE, index) for index in range(len(REPLICAS))]
    try:
        return [max(each.offset, 0) for each in reader.committed(places, timeout=20)]
    finally:
        reader.close()


def wait_copied(cluster: ClusterProcesses, goal: int) -> None:
    def is_copied() -> bool:
        try:
            return sum(committed_offsets(cluster)) >= goal
        except KafkaException:
            return False

    wait_until(is_copied, f"{goal} records are copied")
