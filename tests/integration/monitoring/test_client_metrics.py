"""Metrics that librdkafka pushes (KIP-714) are shown to Prometheus, and relayed to a collector."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from ottla.configs import ConfigOperation, ConfigResourceType
from ottla.metrics import TextFormat
from ottla.testing import Cluster
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.monitoring.otlp_collector import OtlpCollector
from tests.support.monitoring.scraping import Scrape, get
from tests.support.nodes.cluster_processes import wait_until
from tests.support.nodes.wire_connection import WireConnection
from tests.support.promtool import check_prometheus_text

METRIC = "org.apache.kafka.producer.connection.creation.total"
VALUES = "ottla_client_metric_value"
TOTALS = "ottla_client_metric_total"
TIMEOUT_SECONDS = 30.0


@pytest.fixture
def collector() -> Iterator[OtlpCollector]:
    with OtlpCollector() as started:
        yield started


@pytest.fixture
def cluster(collector: OtlpCollector) -> Iterator[Cluster]:
    properties = {
        "ottla.metrics.listener": "0",
        "ottla.metrics.otlp.endpoint": collector.endpoint,
        "ottla.metrics.otlp.interval.ms": "1000",
    }
    with Cluster(properties=properties) as started:
        started.create_topic("orders")
        yield started


def subscribe(cluster: Cluster, **configs: str) -> None:
    resource = AlterConfigsResource(
        resource_type=ConfigResourceType.CLIENT_METRICS,
        resource_name="all",
        configs=[
            AlterableConfig(
                name=name.replace("_", "."), config_operation=ConfigOperation.SET, value=value
            )
            for name, value in configs.items()
        ],
    )
    host, _, port = cluster.bootstrap.partition(":")
    with WireConnection((host, int(port))) as connection:
        response = connection.send_request(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    assert [each.error_code for each in response.responses] == [0]


def test_metrics_of_librdkafka_are_shown_and_relayed(
    cluster: Cluster, collector: OtlpCollector
) -> None:
    subscribe(cluster, metrics="*", interval_ms="200", match="client_id=shop")
    (address,) = cluster.metrics_addresses
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "client.id": "shop"})
    other = Producer({"bootstrap.servers": cluster.bootstrap, "client.id": "other"})
    for each in (producer, other):
        each.produce("orders", b"x")
        each.flush(TIMEOUT_SECONDS)

    def labels() -> set[tuple[str, ...]]:
        names = ("client_id", "client_software_name", "metric")
        return set(Scrape.of(address).by_labels(TOTALS, *names))

    wanted = ("shop", "confluent-kafka-python", METRIC)
    wait_until(lambda: wanted in labels(), "connections are counted")
    assert {client for client, _, _ in labels()} == {"shop"}
    assert Scrape.of(address).value("ottla_client_instances") == 2
    text = get(address, "/metrics", accept=TextFormat.PROMETHEUS.value).text
    check_prometheus_text(text)

    def relayed() -> bool:
        return any(
            each.metric.name == METRIC and each.resource.get("client_id") == "shop"
            for each in collector.all_points()
        )

    wait_until(relayed, "the collector has them under their own name")
    names = {each.metric.name for each in collector.all_points()}
    assert not names & {VALUES, TOTALS}
