"""Metrics of nodes within a test: off unless they are asked for."""

from __future__ import annotations

import pytest

from ottla import InvalidConfigError
from ottla.metrics import TextFormat
from ottla.testing import Cluster
from tests.support.monitoring.scraping import Scrape, get
from tests.support.promtool import check_prometheus_text


def test_a_test_cluster_serves_no_metrics_by_default() -> None:
    with Cluster() as cluster:
        assert cluster.metrics_addresses == []


def test_a_test_cluster_serves_metrics_and_health_where_it_is_told() -> None:
    with Cluster(properties={"ottla.metrics.listener": "0"}) as cluster:
        cluster.create_topic("orders")
        (address,) = cluster.metrics_addresses
        assert Scrape.of(address).value("ottla_log_end_offset", topic="orders", partition="0") == 0
        check_prometheus_text(get(address, "/metrics", accept="text/plain").text)
        assert get(address, "/metrics").text.endswith("\n# EOF\n")
        assert get(address, "/metrics", accept=TextFormat.PROMETHEUS.value).status == 200
        assert get(address, "/readyz") == get(address, "/healthz") == (200, "ok\n")
        assert get(address, "/") == (404, "try /metrics, /healthz or /readyz\n")
        other = Cluster(properties={"ottla.metrics.listener": str(address.port)})
        with pytest.raises(InvalidConfigError, match="already in use"):
            other.start()
    with pytest.raises(ConnectionRefusedError):
        get(address, "/healthz")


def test_a_killed_node_serves_no_metrics_and_a_restarted_one_does() -> None:
    with Cluster(properties={"ottla.metrics.listener": "0"}) as cluster:
        (address,) = cluster.metrics_addresses
        cluster.kill(1)
        assert cluster.metrics_addresses == []
        with pytest.raises(ConnectionRefusedError):
            get(address, "/healthz")
        cluster.restart(1)
        (address,) = cluster.metrics_addresses
        assert get(address, "/readyz").status == 200
