"""A cluster of processes that serve their metrics."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.monitoring.scraping import Page, Scrape, get
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, free_ports
from tests.support.nodes.node_listeners import HOST


class MetricsPorts:
    """Where each node serves its metrics; the same after a restart."""

    def __init__(self, cluster: ClusterProcesses) -> None:
        self._ports: Mapping[int, int] = dict(
            zip(cluster.nodes, free_ports(len(cluster.nodes)), strict=True)
        )
        for node in cluster.nodes.values():
            node.configure({"ottla.metrics.listener": str(self._ports[node.id])})

    @property
    def ports(self) -> list[int]:
        return list(self._ports.values())

    def scrape(self, node: NodeOfCluster) -> Scrape:
        return Scrape.of(self._address(node))

    def ready(self, node: NodeOfCluster) -> Page:
        return get(self._address(node), "/readyz")

    def healthy(self, node: NodeOfCluster) -> Page:
        return get(self._address(node), "/healthz")

    def text(self, node: NodeOfCluster, accept: str) -> str:
        return get(self._address(node), "/metrics", accept=accept).text

    def _address(self, node: NodeOfCluster) -> tuple[str, int]:
        return HOST, self._ports[node.id]
