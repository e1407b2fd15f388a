"""What is shown of nodes that answer, hang, have ended or are not who they should be."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ottla.cli.display.terminal import json_line
from ottla.cli.exit_codes import CommandError
from ottla.cli.top.brokers import ListedBroker, ListedCluster
from ottla.cli.top.round import Overview, Rounds
from ottla.cli.top.scrape import ScrapeError
from ottla.cli.top.view import overview_json, overview_view
from ottla.metrics import Metrics, TextFormat, render
from ottla.metrics.table import controllers, coordinators, process, replication, topics
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from tests.support.captured_terminal import captured_terminal, said

METRICS = Address("host-1", 9404)


def broker(**changes: object) -> ListedBroker:
    usual: dict[str, object] = {
        "id": 1,
        "address": Address("host-1", 9092),
        "is_fenced": False,
        "leads": 4,
        "under_replicated": 1,
        "metrics": METRICS,
        "answers": False,
        "disk_used": None,
    }
    return ListedBroker(**{**usual, **changes})  # type: ignore[arg-type]


def page(node_id: int = 1, *, state: str = "running", is_ready: bool = True) -> str:
    metrics = Metrics()
    metrics.gauge(process.START_TIME).set(1.0)
    metrics.gauge(process.NODE_STATE, state).set(1)
    metrics.gauge(process.NODE_READY).set(is_ready)
    metrics.gauge(controllers.ACTIVE_CONTROLLER).set(1)
    metrics.gauge(controllers.OFFLINE_PARTITIONS).set(2)
    metrics.gauge(replication.LEADER_PARTITIONS).set(4)
    metrics.gauge(replication.UNDER_REPLICATED_PARTITIONS).set(3)
    metrics.counter(topics.TOPIC_RECEIVED_BYTES, "orders").add(10)
    metrics.gauge(coordinators.GROUP_LAG_RECORDS, "billing", "orders", "0").set(17)
    metrics.measure(process.NODE_INFO, lambda: [((str(node_id), "c", "broker", ""), 1)])
    return "".join(render(metrics, TextFormat.OPENMETRICS))


class Nodes:
    """Pages by address, or why there is none; and the cluster, or why it does not answer."""

    def __init__(self) -> None:
        self.pages: Mapping[Address, str] = {}
        self.cluster: ListedCluster | str = "The node did not answer."

    async def scrape_page(self, address: Address) -> str:
        if address not in self.pages:
            raise ScrapeError("connection refused")
        return self.pages[address]

    async def fetch_cluster(self) -> ListedCluster:
        if isinstance(self.cluster, str):
            raise CommandError(self.cluster)
        return self.cluster


def of_cluster(nodes: Nodes) -> Rounds:
    return Rounds(SystemClock(), nodes.scrape_page, fetch_cluster=nodes.fetch_cluster)


def shown(overview: Overview) -> str:
    terminal = captured_terminal()
    terminal.stdout.width = 160
    terminal.stdout.print(overview_view(overview))
    return said(terminal)


def test_a_node_with_metrics_is_shown_by_them() -> None:
    nodes = Nodes()
    nodes.pages = {METRICS: page()}
    rounds = Rounds(SystemClock(), nodes.scrape_page, addresses=[METRICS])
    overview = asyncio.run(rounds.run())
    text = shown(overview)
    assert "1 of 1 node serving, 3 partitions under-replicated, 2 partitions without" in text
    assert "ready, controller" in text
    assert "billing" in text
    fields = overview_json(overview)
    assert fields["nodes"][0]["node"] == 1
    assert fields["nodes"][0]["leads"] == 4
    assert json_line(fields)


def test_a_node_that_starts_is_shown_in_its_state() -> None:
    nodes = Nodes()
    nodes.pages = {METRICS: page(state="recovering", is_ready=False)}
    rounds = Rounds(SystemClock(), nodes.scrape_page, addresses=[METRICS])
    assert "recovering" in shown(asyncio.run(rounds.run()))
    nodes.pages = {METRICS: page(is_ready=False)}
    text = shown(asyncio.run(rounds.run()))
    assert "not ready" in text
    assert "0 of 1 node serving" in text


def test_a_node_that_has_ended_is_unreachable_and_keeps_no_numbers() -> None:
    nodes = Nodes()
    nodes.pages = {METRICS: page()}
    rounds = Rounds(SystemClock(), nodes.scrape_page, addresses=[METRICS])
    asyncio.run(rounds.run())
    nodes.pages = {}
    overview = asyncio.run(rounds.run())
    assert overview.nodes[0].load is None
    assert not overview.is_anything_known
    assert "connection refused" in shown(overview)


def test_a_broker_without_metrics_is_shown_by_the_protocol() -> None:
    nodes = Nodes()
    nodes.cluster = ListedCluster("c", (broker(metrics=None, answers=True, disk_used=0.5),), 0)
    text = shown(asyncio.run(of_cluster(nodes).run()))
    assert "serving" in text
    assert "50%" in text
    assert "serves no metrics" in text


def test_a_broker_that_does_not_answer_is_not_shown_as_serving() -> None:
    nodes = Nodes()
    nodes.cluster = ListedCluster("c", (broker(),), 0)
    rounds = of_cluster(nodes)
    text = shown(asyncio.run(rounds.run()))
    assert "0 of 1 node serving" in text
    assert "no metrics from host-1:9404: connection refused" in text
    nodes.cluster = ListedCluster("c", (broker(metrics=None),), 0)
    rounds = of_cluster(nodes)
    assert "no answer" in shown(asyncio.run(rounds.run()))
    nodes.cluster = ListedCluster("c", (broker(is_fenced=True),), 0)
    assert "fenced" in shown(asyncio.run(rounds.run()))


def test_metrics_of_another_node_are_not_shown() -> None:
    nodes = Nodes()
    nodes.cluster = ListedCluster("c", (broker(),), 0)
    nodes.pages = {METRICS: page(node_id=7)}
    text = shown(asyncio.run(of_cluster(nodes).run()))
    assert "node 7 answers there, not node 1" in text
    assert "ready" not in text


def test_nodes_are_still_read_while_the_cluster_does_not_answer() -> None:
    nodes = Nodes()
    nodes.cluster = ListedCluster("c", (broker(),), 0)
    nodes.pages = {METRICS: page()}
    rounds = of_cluster(nodes)
    asyncio.run(rounds.run())
    nodes.cluster = "The node did not answer."
    overview = asyncio.run(rounds.run())
    assert overview.problem == "The node did not answer."
    assert overview.nodes[0].state == "ready"
    assert "The node did not answer." in shown(overview)
