"""kafka-client-metrics subscribes to metrics of Kafka's own clients, which push them (KIP-714)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.java_tools.cluster import ClusterTools
from tests.support.monitoring.monitored_cluster import MetricsPorts
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until

TOPIC = "pushed"
NAME = "pushed-by-producers"
MATCH = "client_software_name=apache-kafka-java,client_id=producer-.*"
PREFIX = "org.apache.kafka.producer.record."
RECORDS = 40


@pytest.fixture
def subscription(tools: ClusterTools) -> Iterator[str]:
    what = ("--metrics", PREFIX, "--interval", "300", "--match", MATCH)
    tools("kafka-client-metrics", "--alter", "--name", NAME, *what)
    yield NAME
    tools("kafka-client-metrics", "--delete", "--name", NAME)
    assert NAME not in tools("kafka-client-metrics", "--list")


def test_subscriptions_are_managed_by_kafkas_tools(tools: ClusterTools, subscription: str) -> None:
    assert subscription in tools("kafka-client-metrics", "--list", via=2).split()
    shown = tools("kafka-client-metrics", "--describe", "--name", NAME, via=3)
    for expected in (f"metrics={PREFIX}", "interval.ms=300", f"match={MATCH}"):
        assert expected in shown
    which = ("--entity-type", "client-metrics", "--entity-name", NAME)
    tools("kafka-configs", "--alter", *which, "--add-config", "interval.ms=400")
    assert "interval.ms=400" in tools("kafka-configs", "--describe", *which)
    refused = tools.run("kafka-configs", "--alter", *which, "--add-config", "interval.ms=5")
    assert refused.status != 0
    assert "interval must be between 100 and 3600000" in refused.stdout + refused.stderr


def test_a_producer_pushes_what_it_has_sent(
    tools: ClusterTools, cluster: ClusterProcesses, metrics: MetricsPorts, subscription: str
) -> None:
    assert subscription
    tools.create(TOPIC, [[1, 2, 3]])
    limits = ("--max-messages", str(RECORDS), "--throughput", str(RECORDS))
    tools("kafka-verifiable-producer", "--topic", TOPIC, *limits)
    sent = {
        "client_software_name": "apache-kafka-java",
        "metric": "org.apache.kafka.producer.record.send.total",
    }

    def pushed() -> float:
        return max(
            metrics.scrape(node).total("ottla_client_metric_total", topic="", **sent)
            for node in cluster.brokers
        )

    # The last push is that of a producer that closes.
    wait_until(lambda: pushed() == RECORDS, "the producer has pushed how many records it sent")
    for node in cluster.brokers:
        scrape = metrics.scrape(node)
        for metric, topic in scrape.by_labels("ottla_client_metric_value", "metric", "topic"):
            assert metric.startswith(PREFIX), (metric, topic)
        errors = scrape.by_labels("ottla_client_metric_pushes_total", "error")
        assert set(errors) <= {("NONE",), ("UNKNOWN_SUBSCRIPTION_ID",)}
