"""A node sends its metrics to a collector, and goes on where there is none."""

from __future__ import annotations

import pytest

from ottla.testing import Cluster
from tests.support.monitoring.otlp_collector import OtlpCollector
from tests.support.monitoring.scraping import Scrape
from tests.support.nodes.cluster_processes import free_ports, wait_until

INTERVAL = {"ottla.metrics.otlp.interval.ms": "1000"}


def settings(endpoint: str) -> dict[str, str]:
    return INTERVAL | {
        "ottla.metrics.listener": "0",
        "ottla.metrics.otlp.endpoint": endpoint,
        "ottla.metrics.otlp.headers": "X-Tenant=main",
    }


def test_a_collector_receives_what_a_scrape_shows() -> None:
    with OtlpCollector() as collector, Cluster(properties=settings(collector.endpoint)) as cluster:
        cluster.create_topic("orders", partitions=3)
        (address,) = cluster.metrics_addresses
        wait_until(
            lambda: collector.value("ottla_log_end_offset", topic="orders", partition="2") == 0,
            "the log of the new topic is exported",
        )
        collector.clear()
        wait_until(lambda: bool(collector.received), "metrics are sent")
        names = {each.metric.name for each in collector.all_points()}
        wanted = {
            line.split()[2]
            for line in Scrape.of(address).text.splitlines()
            if line.startswith("# TYPE")
        }
        assert len(names) > 50
        # Prometheus calls these two by a shorter name, and families without series are not sent.
        assert names - wanted == {"ottla_build_info", "ottla_node_info"}
        received = collector.received[-1]
        assert received.headers["X-Tenant"] == "main"
        (resource,) = received.request.resource_metrics
        attributes = {each.key: each.value.string_value for each in resource.resource.attributes}
        assert attributes["service.name"] == "ottla"
        assert attributes["service.instance.id"] == "1"
        assert len(attributes["service.namespace"]) == 22
        wait_until(
            lambda: Scrape.of(address).value("ottla_otlp_exports_total", outcome="succeeded") > 1,
            "exports are counted",
        )


def test_a_collector_that_fails_is_reported_once_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with OtlpCollector() as collector, Cluster(properties=settings(collector.endpoint)) as cluster:
        (address,) = cluster.metrics_addresses
        collector.status = 503

        def failures() -> float:
            return Scrape.of(address).value("ottla_otlp_exports_total", outcome="failed")

        wait_until(lambda: failures() >= 2, "two exports have failed")
        said = [each.message for each in caplog.records if "OTLP" in each.message]
        assert said == ["cannot send metrics with OTLP to 127.0.0.1: it responded with status 503"]
        collector.status = 200
        wait_until(lambda: bool(collector.received), "metrics are sent again")


def test_a_node_without_its_collector_starts_and_stops_at_once() -> None:
    (port,) = free_ports(1)
    with Cluster(properties=settings(f"http://127.0.0.1:{port}")) as cluster:
        cluster.create_topic("orders")
        (address,) = cluster.metrics_addresses
        wait_until(
            lambda: Scrape.of(address).value("ottla_otlp_exports_total", outcome="failed") > 0,
            "an export has failed",
        )
