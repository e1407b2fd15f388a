"""Sends a node's metrics to an OpenTelemetry collector, with OTLP over HTTP.

All values are cumulative, so a request that fails is not repeated: the next export has what it had.
The requests are encoded on the event loop in slices of a millisecond, because they read the state
of the node. Workers compress and send them.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import chain
from typing import Final, TypeAlias

from ottla.broker.monitoring.measured_node import MeasuredNode
from ottla.configs.otlp_endpoint import OtlpEndpoint
from ottla.configs.value import Password
from ottla.metrics.otlp import MeasuredResource, Times, export_requests, relayed_requests
from ottla.metrics.table import process as table
from ottla.metrics.table.client_telemetry import PUSHED_FAMILIES
from ottla.runtime.https_request import HttpContent, HttpsRequest
from ottla.runtime.slices import in_slices

_log = logging.getLogger(__name__)

_CONTENT_TYPE: Final = "application/x-protobuf"
# Quick and still a tenth of the size: names repeat.
_COMPRESSION_LEVEL: Final = 1
_GZIP: Final = zlib.MAX_WBITS | 16
# A node that stops waits for a request that is being sent.
_SECONDS_MAX: Final = 5.0
_RESPONSE_BYTES_MAX: Final = 64 * 1024
_NS_PER_MS: Final = 1_000_000

# Sends a request, or raises OSError. Blocks.
Send: TypeAlias = Callable[[HttpsRequest], object]


class OtlpExport:
    """Owned by the node's loop. `start` once, then `close` once."""

    def __init__(
        self, measured: MeasuredNode, endpoint: OtlpEndpoint, send: Send | None = None
    ) -> None:
        """`send` is for tests."""
        self._measured = measured
        self._endpoint = endpoint
        self._send = send or _send
        self._clock = measured.seams.clock
        self._started_ns = self._clock.now_ms() * _NS_PER_MS
        self._succeeded = measured.node.metrics.counter(table.OTLP_EXPORTS, "succeeded")
        self._failed = measured.node.metrics.counter(table.OTLP_EXPORTS, "failed")
        self._has_failed = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="otlp")

    async def close(self) -> None:
        assert self._task is not None
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        interval_seconds = self._measured.node.config.metrics_otlp_interval_ms / 1_000
        while True:
            await self._clock.sleep(interval_seconds)
            await self.export()

    async def export(self) -> None:
        requests = await self._encode()
        try:
            for request in requests:
                await self._sent(request)
        except OSError as error:
            self._failed.add()
            # Once until it succeeds again.
            if not self._has_failed:
                _log.warning("cannot send metrics with OTLP to %s", error)
            self._has_failed = True
        else:
            self._succeeded.add()
            if self._has_failed:
                _log.info("metrics are sent with OTLP to %s again", self._endpoint.host)
            self._has_failed = False

    async def _encode(self) -> list[bytes]:
        async with self._measured.reading() as metrics:
            now_ns = self._clock.now_ms() * _NS_PER_MS
            times = Times(self._started_ns, now_ns)
            own = export_requests(metrics, self._resource(), times, left_out=PUSHED_FAMILIES)
            clients = relayed_requests(self._measured.pushed_by_clients(), times)
            requests = []
            async for each in in_slices(chain(own, clients), self._clock):
                if each is not None:
                    requests.append(each)
            return requests

    def _sent(self, body: bytes) -> Awaitable[None]:
        background = self._measured.seams.background
        try:
            return background.run(_compress_and_send, self._send, self._endpoint, body)
        except RuntimeError:
            # The node has closed its workers.
            raise asyncio.CancelledError from None

    def _resource(self) -> MeasuredResource:
        node = self._measured.node
        attributes = {
            "service.name": "ottla",
            "service.instance.id": str(node.config.node_id),
            "service.version": self._measured.process.version,
        }
        broker = node.opened_broker
        if broker is not None:
            attributes["service.namespace"] = broker.cluster.cluster_id
        return MeasuredResource(attributes, self._measured.process.version)


def _compress_and_send(send: Send, endpoint: OtlpEndpoint, body: bytes) -> None:
    """Runs on a worker. Raises OSError."""
    compressor = zlib.compressobj(_COMPRESSION_LEVEL, wbits=_GZIP)
    compressed = compressor.compress(body) + compressor.flush()
    headers = {"Content-Encoding": Password("gzip"), **endpoint.headers}
    content = HttpContent(_CONTENT_TYPE, compressed, headers)
    send(
        HttpsRequest(
            endpoint.url,
            content=content,
            allows_plaintext=True,
            connect_seconds_max=_SECONDS_MAX,
            seconds_max=_SECONDS_MAX,
        )
    )


def _send(request: HttpsRequest) -> None:
    # Imported where it is needed: the modules of HTTP and TLS are large.
    from ottla.runtime.https import send_https

    send_https(request, bytes_max=_RESPONSE_BYTES_MAX)
