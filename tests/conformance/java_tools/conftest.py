"""Three nodes for the tools of a cluster. A test leaves them as it found them, all running."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.java_tools.client import Java
from tests.conformance.java_tools.cluster import ClusterTools
from tests.support.monitoring.monitored_cluster import MetricsPorts
from tests.support.nodes.cluster_processes import ClusterProcesses

# Two nodes in one, so that it makes a difference whether replicas are spread over them.
RACKS = {1: "a", 2: "a", 3: "b"}


@pytest.fixture(scope="session")
def processes(tmp_path_factory: pytest.TempPathFactory) -> ClusterProcesses:
    return ClusterProcesses(tmp_path_factory.mktemp("cluster"))


@pytest.fixture(scope="session")
def metrics(processes: ClusterProcesses) -> MetricsPorts:
    return MetricsPorts(processes)


@pytest.fixture(scope="session")
def cluster(
    processes: ClusterProcesses,
    metrics: MetricsPorts,
) -> Iterator[ClusterProcesses]:
    for node in processes.brokers:
        node.configure({"broker.rack": RACKS[node.id]})
    with processes:
        yield processes
        processes.stop()
    processes.assert_no_traceback()


@pytest.fixture
def tools(java: Java, cluster: ClusterProcesses) -> ClusterTools:
    assert cluster.running_brokers == cluster.brokers, "an earlier test left a node down"
    return ClusterTools(java, cluster)
