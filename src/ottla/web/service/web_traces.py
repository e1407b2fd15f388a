"""The traces of one program: their settings, and their export from its start to its end."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from ottla.configs.otlp_endpoint import OtlpEndpoint
from ottla.metrics import Metrics
from ottla.metrics.table import web as table
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.tracing import SpanExport, Tracer
from ottla.version import __version__
from ottla.web.service.request_traces import RequestTraces


class TraceSettings(NamedTuple):
    """`sample_ratio` is of traces that begin here: callers decide on their own."""

    endpoint: OtlpEndpoint
    sample_ratio: float = 1.0


class WebTraces:
    """Without settings nothing is recorded. `start` once, then `close` once."""

    def __init__(
        self,
        settings: TraceSettings | None,
        clock: Clock,
        dice: Dice,
        metrics: Metrics,
        *,
        service: str,
        instance: str,
    ) -> None:
        self.tracer: Tracer | None = None
        self.requests: RequestTraces | None = None
        self._export: SpanExport | None = None
        if settings is None:
            return
        self.tracer = tracer = Tracer(clock, dice, sample_ratio=settings.sample_ratio)
        self.requests = RequestTraces(tracer)
        self._export = export = SpanExport(
            tracer,
            settings.endpoint,
            {
                "service.name": service,
                "service.instance.id": instance,
                "service.version": __version__,
            },
        )
        metrics.measure(
            table.TRACE_SPANS,
            lambda: [(("exported",), export.exported), (("dropped",), tracer.dropped)],
        )

    def start(self) -> None:
        if self._export is not None:
            self._export.start()

    async def close(self) -> None:
        if self._export is not None:
            await asyncio.to_thread(self._export.close)
