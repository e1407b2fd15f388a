"""Sends a node's metrics to an OpenTelemetry collector, with OTLP over HTTP.

All values are cumulative, so a request that fails is not repeated: the next export has what it had.
The requests are encoded on the event loop in slices of a millisecond, because they read the state
of the node. Workers compress and send them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import suppress
from itertools import chain
from typing import Final

from ottla.broker.monitoring.measured_node import MeasuredNode
from ottla.configs.otlp_endpoint import OtlpEndpoint
from ottla.metrics.otlp import MeasuredResource, Times, export_requests, relayed_requests
from ottla.metrics.table import process as table
from ottla.metrics.table.client_telemetry import PUSHED_FAMILIES
from ottla.runtime.otlp_post import post_otlp
from ottla.runtime.slices import in_slices

_log = logging.getLogger(__name__)

_NS_PER_MS: Final = 1_000_000


class OtlpExport:
    """Owned by the node's loop. `start` once, then `close` once."""

    def __init__(self, measured: MeasuredNode, endpoint: OtlpEndpoint) -> None:
        self._measured = measured
        self._endpoint = endpoint
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
            return background.run(post_otlp, self._endpoint, body)
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
