"""What two nodes count while clients use them: everything in the table, and the right numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, ShareConsumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from ottla.metrics import Family, MetricKind
from ottla.metrics.table import NODE_FAMILIES
from ottla.runtime.system_clock import SystemClock
from ottla.wire.apis import ApiKey
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.wire.messages.push_telemetry import PushTelemetryRequest
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.monitoring.monitored_cluster import MetricsPorts
from tests.support.monitoring.scraping import Scrape
from tests.support.nodes.cluster_processes import (
    ClusterProcesses,
    NodeOfCluster,
    free_ports,
    wait_until,
)
from tests.support.nodes.node_listeners import HOST
from tests.support.nodes.wire_connection import WireConnection
from tests.support.promtool import check_openmetrics_text, check_prometheus_text
from tests.support.quotas.quota_changes import quota_change
from tests.support.security.certificates import Authority
from tests.support.storage.batches import batch_of

TOPIC = "orders"
RECORDS = 50
TIMEOUT_SECONDS = 30.0
PRODUCE_VERSION = 11
METADATA_VERSION = 12
API_VERSIONS_VERSION = 3
JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "listener.security.protocol.map": (
        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SASL_PLAINTEXT,SECURED:SSL"
    ),
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.name.clients.sasl.enabled.mechanisms": "PLAIN",
    "listener.name.clients.plain.sasl.jaas.config": f'{JAAS} user_alice="secret";',
    "min.insync.replicas": "1",
    "default.replication.factor": "2",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "2",
    "group.initial.rebalance.delay.ms": "0",
}


class Monitored(NamedTuple):
    cluster: ClusterProcesses
    metrics: MetricsPorts
    clients_port: int

    @property
    def nodes(self) -> list[NodeOfCluster]:
        return self.cluster.brokers

    def scrapes(self) -> list[Scrape]:
        return [self.metrics.scrape(node) for node in self.nodes]

    def sum(self, name: str, **labels: str) -> float:
        return sum(scrape.total(name, **labels) for scrape in self.scrapes())


@pytest.fixture(scope="module")
def monitored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitored]:
    scratch = tmp_path_factory.mktemp("monitored")
    cluster = ClusterProcesses(scratch, SETTINGS, brokers=(1, 2), controllers=(1,))
    metrics, ports = MetricsPorts(cluster), free_ports(4)
    certificate = Authority(scratch).issue("node").keystore
    for node, port, secured in zip(cluster.brokers, ports[:2], ports[2:], strict=True):
        listeners = [
            f"PLAINTEXT://{HOST}:{node.port}",
            f"CLIENTS://{HOST}:{port}",
            f"SECURED://{HOST}:{secured}",
        ]
        node.configure(
            {
                "listener.name.secured.ssl.keystore.type": "PEM",
                "listener.name.secured.ssl.keystore.location": str(certificate),
            }
        )
        if node.id == 1:
            listeners.append(f"CONTROLLER://{HOST}:{node.controller_port}")
        node.configure({"listeners": ",".join(listeners)})
    with cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        created = admin.create_topics([NewTopic(TOPIC, 4, 2)])
        created[TOPIC].result(TIMEOUT_SECONDS)
        yield Monitored(cluster, metrics, ports[0])
        cluster.stop()
    cluster.assert_no_traceback()


def produce(monitored: Monitored, *, client_id: str = "test") -> None:
    producer = Producer({"bootstrap.servers": monitored.cluster.bootstrap, "client.id": client_id})
    for number in range(RECORDS):
        producer.produce(TOPIC, b"x" * 100, partition=number % 4)
    assert producer.flush(TIMEOUT_SECONDS) == 0


def consume(monitored: Monitored, group: str) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": monitored.cluster.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([TOPIC])
    assert len(consumer.consume(RECORDS, TIMEOUT_SECONDS)) == RECORDS
    consumer.commit(asynchronous=False)
    consumer.close()


def produce_with_quota(monitored: Monitored) -> None:
    quota = quota_change({"client-id": "limited"}, {"producer_byte_rate": 1e9})
    with WireConnection(monitored.nodes[0].address) as connection:
        assert not connection.send_request(quota, 1).entries[0].error_code
    produce(monitored, client_id="limited")


def produce_what_is_held_back(monitored: Monitored) -> None:
    """A record that is due in a minute, one that is refused, and one that is set aside."""
    admin = AdminClient({"bootstrap.servers": monitored.cluster.bootstrap})
    checks = {"ottla.value.schema.validation": "schema-id"}
    configs = {
        "dlq.metrics": {"errors.deadletterqueue.group.enable": "true"},
        "later": {"ottla.delivery.delay.enable": "true"},
        "refused": checks,
        "set-aside": {**checks, "ottla.schema.deadletterqueue.topic.name": "dlq.metrics"},
    }
    topics = [NewTopic(name, 1, 2, config=config) for name, config in configs.items()]
    for created in admin.create_topics(topics).values():
        created.result(TIMEOUT_SECONDS)
    producer = Producer({"bootstrap.servers": monitored.cluster.bootstrap})
    due_ms = SystemClock().now_ms() + 60_000
    producer.produce("later", b"later", headers={"ottla-deliver-at": str(due_ms)})
    producer.produce("refused", b"without a schema")
    producer.produce("set-aside", b"without a schema")
    assert producer.flush(TIMEOUT_SECONDS) == 0


@contextmanager
def sharing(monitored: Monitored) -> Iterator[None]:
    """A consumer that shares the topic with others."""
    consumer = ShareConsumer(
        {"bootstrap.servers": monitored.cluster.bootstrap, "group.id": "shared"}
    )
    consumer.subscribe([TOPIC])
    try:
        wait_until(
            lambda: not list(consumer.poll(0.1)) and monitored.sum("ottla_share_partitions") > 0,
            "partitions are shared",
        )
        yield
    finally:
        consumer.close()


def run_transaction(monitored: Monitored) -> None:
    producer = Producer(
        {"bootstrap.servers": monitored.cluster.bootstrap, "transactional.id": "payments"}
    )
    producer.init_transactions(TIMEOUT_SECONDS)
    producer.begin_transaction()
    producer.produce(TOPIC, b"paid", partition=0)
    producer.commit_transaction(TIMEOUT_SECONDS)


def authenticate(monitored: Monitored, password: str) -> int:
    """The error code."""
    with WireConnection((HOST, monitored.clients_port)) as connection:
        connection.send_request(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        token = f"\0alice\0{password}".encode()
        response = connection.send_request(SaslAuthenticateRequest(auth_bytes=token), 2)
        return int(response.error_code)


def push_metrics(monitored: Monitored) -> None:
    """As a client does that is subscribed."""
    data = MetricsData()
    metrics = data.resource_metrics.add().scope_metrics.add().metrics
    metrics.add(name="lag").gauge.data_points.add(as_int=1)
    metrics.add(name="sent").sum.is_monotonic = True
    metrics[1].sum.data_points.add(as_int=2)
    with WireConnection(monitored.nodes[0].address) as connection:
        subscription = connection.send_request(GetTelemetrySubscriptionsRequest(), 0)
        push = PushTelemetryRequest(
            client_instance_id=subscription.client_instance_id,
            subscription_id=subscription.subscription_id,
            metrics=data.SerializeToString(),
        )
        assert connection.send_request(push, 0).error_code == 0


def sample_names(family: Family) -> set[str]:
    if family.kind is MetricKind.HISTOGRAM:
        return {f"{family.name}_{each}" for each in ("bucket", "count", "sum")}
    return {family.name}


def test_everything_in_the_table_is_exported_and_nothing_else(
    monitored: Monitored, tmp_path: Path
) -> None:
    produce(monitored)
    consume(monitored, "table")
    run_transaction(monitored)
    assert not authenticate(monitored, "secret")
    assert authenticate(monitored, "wrong")
    push_metrics(monitored)
    produce_what_is_held_back(monitored)
    with WireConnection(monitored.nodes[0].address) as connection:
        unknown = MetadataRequest(
            topics=[MetadataRequestTopic(name="missing")], allow_auto_topic_creation=False
        )
        connection.send_request(unknown, METADATA_VERSION)
    with sharing(monitored):
        produce_with_quota(monitored)
        # The second scrape has the time of the first.
        scrapes = [*monitored.scrapes(), *monitored.scrapes()]
    exported = set().union(*(scrape.names for scrape in scrapes))
    declared = set().union(*map(sample_names, NODE_FAMILIES))
    assert declared - exported == set()
    assert exported - declared == set()
    for node in monitored.nodes:
        check_openmetrics_text(monitored.metrics.text(node, ""), tmp_path / str(node.id))
        check_prometheus_text(monitored.metrics.text(node, "text/plain"))


def test_requests_are_counted_as_often_as_a_client_sent_them(monitored: Monitored) -> None:
    node = monitored.nodes[0]
    before = monitored.metrics.scrape(node)
    with WireConnection(node.address) as connection:
        for _ in range(17):
            connection.send_request(ApiVersionsRequest(), API_VERSIONS_VERSION)
        connection.send(b"".join((b"\0\0\0\x0c", b"\0\x12", b"\x7f\xff", b"\0\0\0\1", b"\0\0\0\0")))
        connection.receive_frame()
    after = monitored.metrics.scrape(node)

    def grown(name: str, **labels: str) -> float:
        return after.total(name, **labels) - before.total(name, **labels)

    assert grown("ottla_requests_total", api="ApiVersions", version="3") == 17
    assert grown("ottla_requests_total", api="ApiVersions") == 18
    assert grown("ottla_request_seconds_count", api="ApiVersions") == 18
    for phase in ("queue", "local", "remote", "throttle", "send"):
        labels = {"api": "ApiVersions", "phase": phase}
        assert grown("ottla_request_phase_seconds_count", **labels) == 18
    errors = {"api": "ApiVersions", "error": "UNSUPPORTED_VERSION"}
    assert grown("ottla_request_errors_total", **errors) == 1


def test_the_expiry_of_a_certificate_is_that_of_its_file(monitored: Monitored) -> None:
    scrape = monitored.metrics.scrape(monitored.nodes[0])
    expiry = scrape.by_labels("ottla_certificate_not_after_seconds", "listener")
    # As the authority of the tests issues them.
    assert expiry == {("SECURED",): datetime(3000, 1, 1, tzinfo=UTC).timestamp()}


def test_records_and_bytes_are_counted_by_topic(monitored: Monitored) -> None:
    def totals() -> dict[str, float]:
        names = ("received_records", "received_bytes", "sent_records", "sent_bytes")
        return {name: monitored.sum(f"ottla_topic_{name}_total", topic=TOPIC) for name in names}

    before = totals()
    produce(monitored)
    received = totals()
    assert received["received_records"] - before["received_records"] == RECORDS
    assert received["received_bytes"] - before["received_bytes"] > RECORDS * 100
    consumer = Consumer({"bootstrap.servers": monitored.cluster.bootstrap, "group.id": "bytes"})
    consumer.assign([TopicPartition(TOPIC, index, 0) for index in range(4)])
    count = 0
    while count < received["received_records"]:
        count += len(consumer.consume(100, 1.0))
    consumer.close()
    sent = totals()
    # A consumer may fetch some of them twice, when its queue was full.
    assert sent["sent_records"] - before["sent_records"] >= received["received_records"]
    assert sent["sent_bytes"] - before["sent_bytes"] >= received["received_bytes"]


def test_a_rejected_batch_is_counted_with_its_bytes_and_its_error(monitored: Monitored) -> None:
    node = leader_of(monitored, 0)
    before = monitored.metrics.scrape(node)
    batch = batch_of(b"x")
    batch[-1] ^= 1
    data = PartitionProduceData(index=0, records=batch)
    request = ProduceRequest(
        acks=1,
        timeout_ms=1_000,
        topic_data=[TopicProduceData(name=TOPIC, partition_data=[data])],
    )
    with WireConnection(node.address) as connection:
        connection.send_request(request, PRODUCE_VERSION)
    after = monitored.metrics.scrape(node)
    name = "ottla_topic_rejected_bytes_total"
    assert after.value(name, topic=TOPIC) - before.value(name, topic=TOPIC) == len(batch)
    errors = {"api": "Produce", "error": "CORRUPT_MESSAGE"}
    name = "ottla_request_errors_total"
    assert after.value(name, **errors) == before.value(name, **errors) + 1


def leader_of(monitored: Monitored, partition: int) -> NodeOfCluster:
    admin = AdminClient({"bootstrap.servers": monitored.cluster.bootstrap})
    found = admin.list_topics(TOPIC, timeout=TIMEOUT_SECONDS).topics[TOPIC].partitions
    return monitored.cluster.nodes[found[partition].leader]


def test_offsets_and_sizes_of_leader_and_follower_agree(monitored: Monitored) -> None:
    produce(monitored)

    def ends() -> list[dict[tuple[str, ...], float]]:
        return [
            {
                key: value
                for key, value in scrape.by_labels(
                    "ottla_log_end_offset", "topic", "partition"
                ).items()
                if key[0] == TOPIC
            }
            for scrape in monitored.scrapes()
        ]

    def are_equal() -> bool:
        first, second = ends()
        return first == second and len(first) == 4

    wait_until(are_equal, "the follower has everything")
    assert monitored.sum("ottla_under_replicated_partitions") == 0
    assert monitored.sum("ottla_active_controller") == 1
    leaders = [scrape.value("ottla_leader_partitions") for scrape in monitored.scrapes()]
    partitions = monitored.metrics.scrape(monitored.nodes[0]).value("ottla_cluster_partitions")
    assert sum(leaders) == partitions


def test_every_api_has_a_name_that_kafka_uses(monitored: Monitored) -> None:
    apis = {
        key[0]
        for scrape in monitored.scrapes()
        for key in scrape.by_labels("ottla_requests_total", "api", "version")
    }
    known = {key.name.title().replace("_", "") for key in ApiKey} - {"Fetch"}
    assert apis <= known | {"FetchConsumer", "FetchFollower"}
    assert {"FetchFollower", "BrokerHeartbeat"} <= apis
    assert all(re.fullmatch("[A-Za-z]+", api) for api in apis)
