"""What /readyz and /healthz say while nodes start, recover, lose their cluster, and stop."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.support.monitoring.monitored_cluster import MetricsPorts
from tests.support.monitoring.scraping import Page
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until

SETTINGS = {
    "broker.session.timeout.ms": "1000",
    "broker.heartbeat.interval.ms": "200",
}
OF_A_START = re.compile(
    "the node is starting"
    "|the node waits to be registered by the active controller"
    "|the node opens its logs(: [0-9]+ of [0-9]+)?"
    "|the node waits for the active controller to unfence it"
)
READY = Page(200, "ok\n")


class Watch:
    """Every answer of /readyz and /healthz, in order, without repetitions. Reads the metrics, too:
    the node's log must not have an error then."""

    def __init__(self, metrics: MetricsPorts, node: NodeOfCluster) -> None:
        self._metrics = metrics
        self._node = node
        self._is_over = threading.Event()
        self.ready: list[Page] = []
        self.healthy: list[Page] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def saw(self, page: Page) -> bool:
        return page in self.ready

    def _run(self) -> None:
        while not self._is_over.wait(0.002):
            try:
                for pages, page in (
                    (self.ready, self._metrics.ready(self._node)),
                    (self.healthy, self._metrics.healthy(self._node)),
                ):
                    if not pages or pages[-1] != page:
                        pages.append(page)
                self._metrics.scrape(self._node)
            except OSError:
                # The process has not opened the port yet, or has ended.
                continue


def test_a_node_is_ready_when_it_serves_and_not_before_or_after(tmp_path: Path) -> None:
    cluster = ClusterProcesses(tmp_path, SETTINGS, brokers=(1,), controllers=(1,))
    node, metrics = cluster.nodes[1], MetricsPorts(cluster)
    for end in (node.kill, node.stop):
        watch = Watch(metrics, node)
        with watch.running():
            node.start()
            try:
                node.wait_ready()
                wait_until(partial(watch.saw, READY), "the node is ready")
            except BaseException:
                node.end_by_force()
                raise
            end()
        *before, after = watch.ready
        was_stopped = after != READY
        if was_stopped:
            assert after == Page(503, "the node is shutting down\n")
            before.pop()
        # The first start has an empty directory, the second one that of a killed node.
        assert before, "the pages are served before the node serves"
        for page in before:
            assert page.status == 503
            assert OF_A_START.fullmatch(page.text.strip()), page.text
        # A node may stop between two requests for the page.
        assert not was_stopped or end == node.stop
        assert watch.healthy == [READY]
        assert "Traceback" not in node.stderr, node.stderr


def test_a_broker_without_its_controller_is_not_ready_but_healthy(tmp_path: Path) -> None:
    cluster = ClusterProcesses(tmp_path, SETTINGS, brokers=(2,), controllers=(1,))
    metrics = MetricsPorts(cluster)
    controller, broker = cluster.nodes[1], cluster.nodes[2]
    with cluster:
        assert metrics.ready(controller) == metrics.ready(broker) == READY
        assert metrics.scrape(controller).value("ottla_active_controller") == 1
        assert metrics.scrape(controller).value("ottla_cluster_brokers", state="active") == 1
        controller.kill()
        wait_until(lambda: metrics.ready(broker).status == 503, "the loss is noticed")
        assert re.search("no controller leads|has not answered", metrics.ready(broker).text)
        assert metrics.healthy(broker) == READY
        assert metrics.scrape(broker).value("ottla_node_ready") == 0
        cluster.start([controller])
        wait_until(lambda: metrics.ready(broker) == READY, "the broker is ready again")
        cluster.stop()
    cluster.assert_no_traceback()


def test_nodes_are_ready_again_when_another_controller_has_taken_over(tmp_path: Path) -> None:
    cluster = ClusterProcesses(tmp_path)
    metrics = MetricsPorts(cluster)

    def active(nodes: list[NodeOfCluster]) -> list[NodeOfCluster]:
        return [node for node in nodes if metrics.scrape(node).value("ottla_active_controller")]

    with cluster:
        wait_until(lambda: len(active(cluster.brokers)) == 1, "one controller is active")
        (killed,) = active(cluster.brokers)
        others = [node for node in cluster.brokers if node is not killed]
        before = [metrics.scrape(each).value("ottla_quorum_epoch") for each in others]
        killed.kill()
        wait_until(lambda: len(active(others)) == 1, "another controller is active")
        wait_until(lambda: all(metrics.ready(each) == READY for each in others), "both are ready")
        after = [metrics.scrape(each) for each in others]
        assert min(each.value("ottla_quorum_epoch") for each in after) > max(before)
        assert {each.value("ottla_quorum_leader") for each in after} <= {each.id for each in others}
        assert all(each.value("ottla_quorum_leader_changes_total") >= 1 for each in after)
        cluster.stop()
    cluster.assert_no_traceback()
