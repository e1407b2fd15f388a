"""The alerts of ops/prometheus with real nodes and a real Prometheus: silent while a healthy
cluster works, and each fires for what it is meant for."""

from __future__ import annotations

import socket  # noqa: TID251 - tests stand outside of the nodes
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from ottla.model import ErrorCode
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.integration.cluster.cluster_view import wait_in_sync
from tests.integration.cluster.small_disk import SmallDisk
from tests.support.monitoring.monitored_cluster import MetricsPorts
from tests.support.monitoring.prometheus_server import PrometheusServer, hasty_rules
from tests.support.nodes.cluster_processes import (
    ClusterProcesses,
    NodeOfCluster,
    free_ports,
    wait_until,
)
from tests.support.nodes.node_listeners import HOST
from tests.support.nodes.wire_connection import WireConnection
from tests.support.security.certificates import Authority
from tests.support.soak import at_scale
from tests.support.storage.batches import batch_of

TOPIC = "load"
# What the nodes take for another host. It may have one connection.
OTHER_HOST = "127.0.0.2"
JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SETTINGS = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "max.connections.per.ip.overrides": f"{OTHER_HOST}:1",
}
FAILED_LOGINS = 25
FAILED_WRITES = 100
PRODUCE_VERSION = 11
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
        "OttlaTransactionOpenForLong": ("> 1200", "> 3"),
    },
)
OF_NODES_AND_CLIENTS = (
    "OttlaEventLoopStalled",
    "OttlaGroupLagging",
    "OttlaGroupLagRecords",
    "OttlaDiskNearlyFull",
    "OttlaLogDirectoryOffline",
    "OttlaCertificateExpires",
    "OttlaAuthenticationFailures",
    "OttlaConnectionsRefused",
    "OttlaTransactionOpenForLong",
)
OF_A_LOST_BROKER = (
    "OttlaNodeDown",
    "OttlaBrokerFenced",
    "OttlaOfflinePartitions",
    "OttlaUnderReplicatedPartitions",
    "OttlaUnderMinIsrPartitions",
    "OttlaRequestErrors",
)
OF_A_LOST_QUORUM = ("OttlaNoActiveController", "OttlaNodeNotReady")


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


class SecuredListener:
    """A listener of a node with TLS and passwords, whose certificate the node reads again."""

    def __init__(self, node: NodeOfCluster, authority: Authority) -> None:
        self._authority = authority
        self._certificate = authority.issue("listener").keystore
        self.address = (HOST, free_ports(1)[0])
        plain, controller = f"{HOST}:{node.port}", f"{HOST}:{node.controller_port}"
        secured = f"{HOST}:{self.address[1]}"
        node.configure(
            {
                "listeners": f"PLAINTEXT://{plain},CONTROLLER://{controller},CLIENTS://{secured}",
                "listener.security.protocol.map": (
                    "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SASL_SSL"
                ),
                "inter.broker.listener.name": "PLAINTEXT",
                "listener.name.clients.ssl.keystore.type": "PEM",
                "listener.name.clients.ssl.keystore.location": str(self._certificate),
                "listener.name.clients.sasl.enabled.mechanisms": "PLAIN",
                "listener.name.clients.plain.sasl.jaas.config": f'{JAAS} user_alice="secret";',
                "connection.failed.authentication.delay.ms": "0",
            }
        )

    def shorten_certificate(self) -> None:
        """A new one of a day in the place of the old one."""
        issued = self._authority.issue("short-lived", valid_for=timedelta(days=1)).keystore
        issued.replace(self._certificate)

    def fail_logins(self) -> None:
        trusting = ssl.create_default_context(cafile=str(self._authority.truststore))
        for _ in range(FAILED_LOGINS):
            with WireConnection(self.address, tls=trusting) as connection:
                connection.send_request(SaslHandshakeRequest(mechanism="PLAIN"), 1)
                wrong = SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong")
                assert connection.send_request(wrong, 2).error_code


def connect_too_often(node: NodeOfCluster) -> None:
    with ExitStack() as stack:
        for _ in range(3):
            connection = socket.create_connection(node.address, source_address=(OTHER_HOST, 0))
            stack.enter_context(connection)


def leave_transaction_open(bootstrap: str) -> Producer:
    """The client continues it as long as it lives."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "forgotten"})
    producer.init_transactions(TIMEOUT_SECONDS)
    producer.begin_transaction()
    producer.produce("backlog", b"x")
    producer.flush(TIMEOUT_SECONDS)
    return producer


def fail_writes(node: NodeOfCluster) -> None:
    """To a partition with too few replicas in sync."""
    data = [PartitionProduceData(index=0, records=bytes(batch_of(b"x")))]
    request = ProduceRequest(
        acks=-1, timeout_ms=1_000, topic_data=[TopicProduceData(name="strict", partition_data=data)]
    )
    with WireConnection(node.address) as connection:

        def is_refused() -> bool:
            response = connection.send_request(request, PRODUCE_VERSION)
            code = response.responses[0].partition_responses[0].error_code
            return bool(code == ErrorCode.NOT_ENOUGH_REPLICAS)

        wait_until(is_refused, "writes are refused")
        assert all(is_refused() for _ in range(FAILED_WRITES))


def stall(node: NodeOfCluster) -> None:
    node.pause()
    began = time.perf_counter()
    wait_until(lambda: time.perf_counter() - began > STALL_SECONDS, "the stall is over")
    node.resume()


def test_alerts_are_silent_on_a_healthy_cluster_and_fire_in_trouble(tmp_path: Path) -> None:
    cluster = ClusterProcesses(tmp_path, SETTINGS)
    metrics = MetricsPorts(cluster)
    first, second, third = cluster.brokers
    secured = SecuredListener(first, Authority(tmp_path))
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
                    forgotten = leave_transaction_open(cluster.bootstrap)
                    stall(third)
                    disk.fill()
                    secured.shorten_certificate()
                    secured.fail_logins()
                    connect_too_often(first)
                    prometheus.wait_firing(*OF_NODES_AND_CLIENTS)
                    forgotten.abort_transaction(TIMEOUT_SECONDS)
                    assert "OttlaNoActiveController" not in prometheus.firing()
                    second.kill()
                    fail_writes(first)
                    prometheus.wait_firing(*OF_A_LOST_BROKER)
                third.kill()
                prometheus.wait_firing(*OF_A_LOST_QUORUM)


def assert_silent_while_healthy(prometheus: PrometheusServer) -> None:
    scraped = "min(sum_over_time(up[1h]))"
    wait_until(lambda: prometheus.value(scraped) >= HEALTHY_SCRAPES, "the nodes are scraped")
    groups = 'count(ottla_group_lag_records{group="quick"})'
    wait_until(lambda: prometheus.value(groups) == 6, "the group has committed everywhere")
    assert prometheus.fired_so_far() == set()
