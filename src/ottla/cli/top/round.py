"""One round of `ottla top`: every node is read at the same time, and none delays the others for
longer than a limit.

A node is shown by what was learned in this round only. What an earlier round said is used for
rates and for where nodes are, never for how they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from ottla.cli.exit_codes import CommandError
from ottla.cli.top.brokers import ListedBroker, ListedCluster
from ottla.cli.top.node_load import NodeLoad, NodeScrape, node_load
from ottla.cli.top.samples import Samples
from ottla.cli.top.scrape import ScrapeError
from ottla.cli.top.traffic import LaggingGroup, TopicRates, group_lags, topic_traffic
from ottla.runtime.clock import Clock
from ottla.runtime.network import Address

PROTOCOL_SECONDS_MAX: Final = 3.0
UNREACHABLE: Final = "unreachable"
_NO_METRICS: Final = "it serves no metrics (`ottla start --metrics` does)"

FetchCluster = Callable[[], Awaitable[ListedCluster]]
ScrapePage = Callable[[Address], Awaitable[str]]
# The scrape of this round, and the one before.
Pair: TypeAlias = tuple[NodeScrape, NodeScrape | None]


class NodeRow(NamedTuple):
    """`id` is None for an address that has not answered yet. `reason` says why there are no
    metrics; None if there are."""

    id: int | None
    address: Address
    load: NodeLoad | None
    reason: str | None

    @property
    def state(self) -> str:
        if self.load is None:
            return UNREACHABLE
        if self.load.is_ready:
            return "ready"
        return "not ready" if self.load.state == "running" else self.load.state


class Overview(NamedTuple):
    """The result of a round. `problem` is set if the cluster did not answer over the protocol."""

    at_ms: int
    nodes: tuple[NodeRow, ...]
    topics: tuple[TopicRates, ...]
    groups: tuple[LaggingGroup, ...]
    # None if neither the protocol nor an active controller said it.
    offline_partitions: int | None
    problem: str | None

    @property
    def is_anything_known(self) -> bool:
        return any(node.load is not None for node in self.nodes)


class Target(NamedTuple):
    """A node to read. `id` is None if only its address for metrics is known."""

    id: int | None
    address: Address
    metrics: Address | None


class Rounds:
    """Repeats rounds over the nodes of a cluster, or over fixed addresses if `fetch_cluster` is
    None."""

    def __init__(
        self,
        clock: Clock,
        scrape_page: ScrapePage,
        *,
        addresses: Iterable[Address] = (),
        fetch_cluster: FetchCluster | None = None,
    ) -> None:
        self._clock = clock
        self._scrape_page = scrape_page
        self._fetch_cluster = fetch_cluster
        self._targets = tuple(Target(None, address, address) for address in addresses)
        self._scrapes: dict[Address, NodeScrape] = {}

    async def run(self) -> Overview:
        cluster, problem = await self._cluster()
        listed = {} if cluster is None else {each.id: each for each in cluster.brokers}
        found = await asyncio.gather(*(self._node(each, listed) for each in self._targets))
        pairs = [pair for _, pair in found if pair is not None]
        rows = tuple(row for row, _ in found)
        return Overview(
            self._clock.now_ms(),
            rows,
            tuple(topic_traffic(pairs)),
            tuple(group_lags(now for now, _ in pairs)),
            _offline(rows) if cluster is None else cluster.offline_partitions,
            problem,
        )

    async def _cluster(self) -> tuple[ListedCluster | None, str | None]:
        """The cluster over the protocol, or why it did not answer; then the nodes are those of the
        last answer."""
        if self._fetch_cluster is None:
            return None, None
        try:
            async with asyncio.timeout(PROTOCOL_SECONDS_MAX):
                cluster = await self._fetch_cluster()
        except CommandError as error:
            return None, error.message
        except TimeoutError:
            return None, f"The cluster did not answer within {PROTOCOL_SECONDS_MAX:g} s."
        self._targets = tuple(
            Target(each.id, each.address, each.metrics or self._metrics_of(each.id))
            for each in cluster.brokers
        )
        return cluster, None

    def _metrics_of(self, node_id: int) -> Address | None:
        """As known from an earlier round, of a broker that does not say it now."""
        return next((each.metrics for each in self._targets if each.id == node_id), None)

    async def _node(
        self, target: Target, listed: Mapping[int, ListedBroker]
    ) -> tuple[NodeRow, Pair | None]:
        broker = None if target.id is None else listed.get(target.id)
        if target.metrics is None:
            return _row_without_metrics(target, broker), None
        try:
            text = await self._scrape_page(target.metrics)
            now = NodeScrape(self._clock.monotonic(), Samples(text))
            before = self._scrapes.get(target.metrics)
            load = node_load(now, before)
            _require_node(target, load)
        except ScrapeError as error:
            reason = f"no metrics from {target.metrics}: {error}"
            load_left = None if broker is None else _load_of(broker, "no metrics")
            return NodeRow(target.id, target.address, load_left, reason), None
        self._scrapes[target.metrics] = now
        return NodeRow(load.node_id, target.address, load, None), (now, before)


def _row_without_metrics(target: Target, broker: ListedBroker | None) -> NodeRow:
    if broker is None:
        return NodeRow(target.id, target.address, None, "the cluster does not answer")
    load = _load_of(broker, "serving" if broker.answers else "no answer")
    return NodeRow(target.id, target.address, load, _NO_METRICS if broker.answers else None)


def _require_node(target: Target, load: NodeLoad) -> None:
    """Another process may listen there, such as a node of this host instead of that of another."""
    if None not in (target.id, load.node_id) and target.id != load.node_id:
        raise ScrapeError(f"node {load.node_id} answers there, not node {target.id}")


def _load_of(broker: ListedBroker, state: str) -> NodeLoad:
    """What the protocol says about a broker. `state` is for one that is not fenced."""
    return NodeLoad(
        node_id=broker.id,
        cluster_id=None,
        state="fenced" if broker.is_fenced else state,
        is_ready=False,
        is_active_controller=False,
        received_bytes=None,
        sent_bytes=None,
        requests=None,
        produce_p99_s=None,
        loop_delay_p99_s=None,
        memory_bytes=None,
        disk_used=broker.disk_used,
        leads=broker.leads,
        under_replicated=broker.under_replicated,
        offline_partitions=None,
    )


def _offline(rows: Iterable[NodeRow]) -> int | None:
    """As the active controller says; what other controllers say may be old."""
    active = (row.load for row in rows if row.load is not None and row.load.is_active_controller)
    return next((load.offline_partitions for load in active), None)
