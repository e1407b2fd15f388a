"""The alerts of ops/prometheus with real nodes and a real Prometheus: silent while a healthy
cluster works, and each fires for what it is meant for."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.integration.cluster.cluster_view import wait_in_sync
from tests.integration.cluster.small_disk import SmallDisk
from tests.support.monitoring.monitored_cluster import MetricsPorts
from tests.support.monitoring.prometheus_server import PrometheusServer, hasty_rules
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until
from tests.support.soak import at_scale

TOPIC = "load"
SETTINGS = {"offsets.topic.num.partitions": "3", "group.initial.rebalance.delay.ms": "0"}
DISK_BYTES = 32 << 20
TIMEOUT_SECONDS = 30.0
# How often Prometheus has evaluated the rules over a healthy cluster.
HEALTHY_SCRAPES = at_scale(quick=3, soak=60)
STALL_SECONDS = 3.2
BACKLOG = 3_000
RULES = hasty_rules(
    # The first ones are about the load of the machine, which may have other work; the last one
    # holds until the first scrape.
    patient=("OttlaEventLoopBusy", "OttlaProduceSlow", "OttlaNotMonitored"),
    thresholds={
        "OttlaGroupLagging": ("> 300", "> 4"),
        "OttlaGroupLagRecords": ("> 1000000", f"> {BACKLOG - 1}"),
    },
)
OF_NODES_AND_GROUPS = (
    "OttlaEventLoopStalled",
    "OttlaGroupLagging",
    "OttlaGroupLagRecords",
    "OttlaDiskNearlyFull",
    "OttlaLogDirectoryOffline",
)
OF_A_LOST_BROKER = (
    "OttlaNodeDown",
    "OttlaBrokerFenced",
    "OttlaOfflinePartitions",
    "OttlaUnderReplicatedPartitions",
    "OttlaUnderMinIsrPartitions",
)


class Load:
    """A producer and a consumer that commits, until `stop`."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=each) for each in (self._produce, self._consume)]

    @contextmanager
    def running(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            for thread in self._threads:
                thread.join()

    def _produce(self) -> None:
        producer = Producer({"bootstrap.servers": self._bootstrap, "log_level": 0})
        number = 0
        while not self._stopping.wait(0.02):
            producer.produce(TOPIC, b"x" * 1_000, partition=number % 6)
            producer.poll(0)
            number += 1
        producer.purge()
        producer.flush(TIMEOUT_SECONDS)

    def _consume(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "quick",
                "auto.commit.interval.ms": 200,
                "log_level": 0,
            }
        )
        consumer.subscribe([TOPIC])
        while not self._stopping.is_set():
            consumer.poll(0.1)
        consumer.close()


def create_topics(cluster: ClusterProcesses) -> None:
    """`single` has no other replica than that of the second broker, and `strict` no more than
    min.insync.replicas."""
    replicas = {
        TOPIC: [[1, 2, 3], [3, 1, 2]] * 3,
        "backlog": [[1, 2, 3]],
        "strict": [[1, 2]],
        "single": [[2]],
    }
    admin = AdminClient(cluster.client)
    topics = [
        NewTopic(
            name,
            len(each),
            replica_assignment=each,
            config={"min.insync.replicas": str(min(2, len(each[0])))},
        )
        for name, each in replicas.items()
    ]

    def exist() -> bool:
        """A controller that is lost meanwhile may leave a request without an answer."""
        for created in admin.create_topics(topics).values():
            created.exception(TIMEOUT_SECONDS)
        return replicas.keys() <= admin.list_topics(timeout=TIMEOUT_SECONDS).topics.keys()

    wait_until(exist, "the topics are created")
    wait_in_sync(cluster, TOPIC)


def leave_group_behind(bootstrap: str) -> None:
    """A group that commits once and does not return, while records are produced."""
    producer = Producer({"bootstrap.servers": bootstrap})
    for _ in range(BACKLOG):
        producer.produce("backlog", b"x")
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "slow"})
    consumer.commit(offsets=[TopicPartition("backlog", 0, 0)], asynchronous=False)
    assert producer.flush(TIMEOUT_SECONDS) == 0
    consumer.close()


def stall(node: NodeOfCluster) -> None:
    node.pause()
    began = time.perf_counter()
    wait_until(lambda: time.perf_counter() - began > STALL_SECONDS, "the stall is over")
    node.resume()


def test_alerts_are_silent_on_a_healthy_cluster_and_fire_in_trouble(tmp_path: Path) -> None:
    cluster = ClusterProcesses(tmp_path, SETTINGS)
    metrics = MetricsPorts(cluster)
    _, second, third = cluster.brokers
    with SmallDisk(tmp_path / "small", size_bytes=DISK_BYTES) as disk:
        third.command_prefix = disk.command_prefix
        directories = f"{third.data},{disk.mount_point}"
        third.configure({"log.dirs": directories, "metadata.log.dir": str(third.data)})
        server = PrometheusServer(tmp_path / "prometheus", RULES, metrics.ports)
        with cluster:
            create_topics(cluster)
            with server as prometheus:
                with Load(cluster.bootstrap).running():
                    assert_silent_while_healthy(prometheus)
                    leave_group_behind(cluster.bootstrap)
                    stall(third)
                    disk.fill()
                    prometheus.wait_firing(*OF_NODES_AND_GROUPS)
                    assert "OttlaNoActiveController" not in prometheus.firing()
                    second.kill()
                    prometheus.wait_firing(*OF_A_LOST_BROKER)
                third.kill()
                prometheus.wait_firing("OttlaNoActiveController")


def assert_silent_while_healthy(prometheus: PrometheusServer) -> None:
    scraped = "min(sum_over_time(up[1h]))"
    wait_until(lambda: prometheus.value(scraped) >= HEALTHY_SCRAPES, "the nodes are scraped")
    groups = 'count(ottla_group_lag_records{group="quick"})'
    wait_until(lambda: prometheus.value(groups) == 6, "the group has committed everywhere")
    assert prometheus.fired_so_far() == set()
