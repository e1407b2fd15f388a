"""Serves a node's metrics and health over HTTP, and sends its metrics to a collector.

Opened before the node starts and closed after it has stopped, so that both can be watched.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from http import HTTPStatus

from ottla.broker.host_seams import HostSeams
from ottla.broker.monitoring.health import failures, obstacles
from ottla.broker.monitoring.measured_node import MeasuredNode
from ottla.broker.monitoring.slices import rendered_in_slices
from ottla.broker.node import Node
from ottla.configs import InvalidConfigError
from ottla.configs.metrics_listener import MetricsListener
from ottla.metrics import TextFormat
from ottla.metrics.rendering import text_format
from ottla.metrics.table import process as table
from ottla.runtime.http.messages import HttpRequest, HttpResponse
from ottla.runtime.http.server import HttpServer
from ottla.runtime.network import Address

_log = logging.getLogger(__name__)


@asynccontextmanager
async def monitored(node: Node, seams: HostSeams) -> AsyncIterator[Address | None]:
    """Serves the node's metrics, or sends them, as its config says. Yields the address where they
    are served. Raises InvalidConfigError if it cannot be listened on."""
    if not node.config.has_metrics:
        yield None
        return
    async with AsyncExitStack() as stack:
        measured = MeasuredNode(node, seams)
        stack.callback(measured.close)
        address = None
        if node.config.metrics_listener is not None:
            monitoring = Monitoring(measured)
            stack.push_async_callback(monitoring.close)
            address = await _listen(monitoring, node.config.metrics_listener)
        if node.config.metrics_otlp_endpoint is not None:
            # Imported only by a node that sends its metrics.
            from ottla.broker.monitoring.otlp_export import OtlpExport

            exporting = OtlpExport(measured, node.config.metrics_otlp_endpoint)
            exporting.start()
            stack.push_async_callback(exporting.close)
        yield address


async def _listen(monitoring: Monitoring, listener: MetricsListener) -> Address:
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
    return address


class Monitoring:
    """The HTTP server of a node. Owned by the node's loop. `open` once, then `close` once."""

    def __init__(self, measured: MeasuredNode) -> None:
        self._measured = measured
        self._node = measured.node
        self._clock = measured.seams.clock
        self._server = HttpServer(measured.seams.network, self._clock, self._answer)
        self._scrapes = measured.node.metrics.histogram(table.SCRAPE_SECONDS)

    async def open(self, address: Address) -> Address:
        """Returns the bound address. Raises OSError."""
        return await self._server.open(address)

    async def close(self) -> None:
        await self._server.close()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        match request.path:
            case "/metrics":
                format_ = text_format(request.headers.get("accept", ""))
                return HttpResponse(self._render(format_), content_type=format_.value)
            case "/healthz":
                return _page(failures(self._node))
            case "/readyz":
                return _page(obstacles(self._node, self._clock))
        return HttpResponse(b"try /metrics, /healthz or /readyz\n", HTTPStatus.NOT_FOUND)

    async def _render(self, format_: TextFormat) -> AsyncGenerator[bytes, None]:
        async with self._measured.reading() as metrics:
            started = self._clock.monotonic()
            async with aclosing(rendered_in_slices(metrics, format_, self._clock)) as slices:
                async for slice_ in slices:
                    yield slice_
            self._scrapes.record(self._clock.monotonic() - started)


def _page(problems: list[str]) -> HttpResponse:
    if not problems:
        return HttpResponse(b"ok\n")
    text = "".join(f"{problem}\n" for problem in problems)
    return HttpResponse(text.encode(), HTTPStatus.SERVICE_UNAVAILABLE)
