"""Serves a node's metrics and health: /metrics, /healthz and /readyz.

Opened before the node starts and closed after it has stopped, so that it tells how both go.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from http import HTTPStatus
from typing import Final

from ottla.broker.host_seams import HostSeams
from ottla.broker.monitoring.controller_metrics import ControllerMetrics
from ottla.broker.monitoring.coordinator_metrics import CoordinatorMetrics
from ottla.broker.monitoring.health import failures, obstacles
from ottla.broker.monitoring.node_metrics import ConnectionMetrics, NodeMetrics
from ottla.broker.monitoring.partition_metrics import PartitionMetrics
from ottla.broker.monitoring.process_metrics import ProcessMetrics, host_facts
from ottla.broker.monitoring.slices import rendered_in_slices
from ottla.broker.node import Node
from ottla.configs import InvalidConfigError
from ottla.metrics import TextFormat
from ottla.metrics.rendering import text_format
from ottla.metrics.table import process as table
from ottla.runtime.http.messages import HttpRequest, HttpResponse
from ottla.runtime.http.server import HttpServer
from ottla.runtime.network import Address

_log = logging.getLogger(__name__)

# A worker may be stuck on a failing disk.
_FACTS_SECONDS_MAX: Final = 0.5


@asynccontextmanager
async def monitored(node: Node, seams: HostSeams) -> AsyncIterator[Address | None]:
    """Serves the node's metrics if its config says where. Yields the address. Raises
    InvalidConfigError if it cannot be listened on."""
    listener = node.config.metrics_listener
    if listener is None:
        yield None
        return
    monitoring = Monitoring(node, seams)
    try:
        try:
            address = await monitoring.open(Address(*listener))
        except OSError as error:
            # A name that cannot be looked up has a negative number of its own.
            is_of_system = (error.errno or -1) > 0
            reason = os.strerror(error.errno or 0).lower() if is_of_system else error.strerror
            raise InvalidConfigError(
                f"cannot serve metrics on {Address(*listener)}: {reason}; choose another "
                "ottla.metrics.listener (--metrics)"
            ) from error
        _log.info("metrics are at http://%s/metrics", address)
        yield address
    finally:
        await monitoring.close()


class Monitoring:
    """Owned by the node's loop. `open` once, then `close` once."""

    def __init__(self, node: Node, seams: HostSeams) -> None:
        self._node = node
        self._seams = seams
        self._server = HttpServer(seams.network, seams.clock, self._answer)
        self._process = ProcessMetrics(node.metrics, seams.clock)
        self._scrapes = node.metrics.histogram(table.SCRAPE_SECONDS)
        NodeMetrics(node.metrics, node, seams.clock)
        # None until the node has opened its metadata.
        self._coordinators: CoordinatorMetrics | None = None
        node.progress.listen(self._maybe_measure_broker)
        self._reading_facts: asyncio.Future[None] | None = None
        # Scrapes take turns, so that together they do not slow the node down more than one.
        self._turn = asyncio.Lock()

    async def open(self, address: Address) -> Address:
        """Returns the bound address. Raises OSError."""
        return await self._server.open(address)

    async def close(self) -> None:
        await self._server.close()
        self._process.close()
        if self._reading_facts is not None:
            self._reading_facts.cancel()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        match request.path:
            case "/metrics":
                format_ = text_format(request.headers.get("accept", ""))
                return HttpResponse(self._render(format_), content_type=format_.value)
            case "/healthz":
                return _page(failures(self._node))
            case "/readyz":
                return _page(obstacles(self._node, self._seams.clock))
        return HttpResponse(b"try /metrics, /healthz or /readyz\n", HTTPStatus.NOT_FOUND)

    async def _render(self, format_: TextFormat) -> AsyncGenerator[bytes, None]:
        clock = self._seams.clock
        async with self._turn:
            await self._prepare()
            started = clock.monotonic()
            async with aclosing(rendered_in_slices(self._node.metrics, format_, clock)) as slices:
                async for slice_ in slices:
                    yield slice_
            self._scrapes.record(clock.monotonic() - started)

    def _maybe_measure_broker(self) -> None:
        broker = self._node.opened_broker
        if broker is not None and self._coordinators is None:
            metrics = self._node.metrics
            ConnectionMetrics(metrics, broker)
            PartitionMetrics(metrics, broker)
            ControllerMetrics(metrics, broker)
            self._coordinators = CoordinatorMetrics(metrics, broker)

    async def _prepare(self) -> None:
        """Reads what takes a moment: the system, and other nodes."""
        if self._coordinators is not None:
            await self._coordinators.refresh()
        if self._reading_facts is None or self._reading_facts.done():
            self._reading_facts = asyncio.ensure_future(self._read_facts())
        await asyncio.wait([self._reading_facts], timeout=_FACTS_SECONDS_MAX)

    async def _read_facts(self) -> None:
        config, background = self._node.config, self._seams.background
        paths = dict.fromkeys((*config.log_dirs, config.metadata_log_dir))
        try:
            self._process.facts = await background.run(host_facts, self._seams.disk, list(paths))
        except RuntimeError:
            # The node has closed its workers: the last facts stay.
            _log.debug("the process is not measured any more")


def _page(problems: list[str]) -> HttpResponse:
    if not problems:
        return HttpResponse(b"ok\n")
    text = "".join(f"{problem}\n" for problem in problems)
    return HttpResponse(text.encode(), HTTPStatus.SERVICE_UNAVAILABLE)
