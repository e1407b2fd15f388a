"""A node whose metrics are read: the sources of all of them, and what precedes a reading."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Final

from ottla.broker.host_seams import HostSeams
from ottla.broker.monitoring.client_metrics import ClientMetrics
from ottla.broker.monitoring.controller_metrics import ControllerMetrics
from ottla.broker.monitoring.coordinator_metrics import CoordinatorMetrics
from ottla.broker.monitoring.node_metrics import ConnectionMetrics, NodeMetrics
from ottla.broker.monitoring.partition_metrics import PartitionMetrics
from ottla.broker.monitoring.process_metrics import ProcessMetrics, host_facts
from ottla.broker.monitoring.share_metrics import measure_sharing
from ottla.broker.node import Node
from ottla.metrics import Metrics
from ottla.metrics.otlp import RelayedPoint
from ottla.metrics.table.process import OTLP_EXPORTS

_log = logging.getLogger(__name__)

# A worker may be stuck on a failing disk.
_FACTS_SECONDS_MAX: Final = 0.5


class MeasuredNode:
    """Owned by the node's loop. Registers its sources when it is made; call `close` once."""

    def __init__(self, node: Node, seams: HostSeams) -> None:
        self.node = node
        self.seams = seams
        # Counted by the exporter, and 0 without one.
        for outcome in ("succeeded", "failed"):
            node.metrics.counter(OTLP_EXPORTS, outcome)
        self.process = ProcessMetrics(node.metrics, seams.clock)
        NodeMetrics(node.metrics, node, seams.clock)
        # None until the node has opened its metadata.
        self._coordinators: CoordinatorMetrics | None = None
        self._clients: ClientMetrics | None = None
        node.progress.listen(self._maybe_measure_broker)
        self._reading_facts: asyncio.Future[None] | None = None
        # Readers take turns, so that together they do not slow the node down more than one.
        self._turn = asyncio.Lock()

    def close(self) -> None:
        self.process.close()
        if self._reading_facts is not None:
            self._reading_facts.cancel()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Metrics]:
        """The metrics, for one reader at a time."""
        async with self._turn:
            await self._prepare()
            yield self.node.metrics

    def pushed_by_clients(self) -> Iterable[tuple[dict[str, str], Iterable[RelayedPoint]]]:
        """The attributes of each client, and its metrics."""
        return () if self._clients is None else self._clients.relayed()

    def _maybe_measure_broker(self) -> None:
        broker = self.node.opened_broker
        if broker is not None and self._coordinators is None:
            metrics = self.node.metrics
            ConnectionMetrics(metrics, broker)
            PartitionMetrics(metrics, broker)
            ControllerMetrics(metrics, broker)
            self._coordinators = CoordinatorMetrics(metrics, broker)
            measure_sharing(metrics, broker)
            self._clients = ClientMetrics(metrics, broker)

    async def _prepare(self) -> None:
        """Reads what takes a moment: the system, and other nodes."""
        if self._coordinators is not None:
            await self._coordinators.refresh()
        if self._reading_facts is None or self._reading_facts.done():
            self._reading_facts = asyncio.ensure_future(self._read_facts())
        await asyncio.wait([self._reading_facts], timeout=_FACTS_SECONDS_MAX)

    async def _read_facts(self) -> None:
        config, background = self.node.config, self.seams.background
        paths = dict.fromkeys((*config.log_dirs, config.metadata_log_dir))
        try:
            self.process.facts = await background.run(host_facts, self.seams.disk, list(paths))
        except RuntimeError:
            # The node has closed its workers: the last facts stay.
            _log.debug("the process is not measured any more")
