"""Traces of a pipeline: a span for each batch of a query, with OTLP to a collector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from ottla.configs.otlp_endpoint import OtlpEndpoint
from ottla.pipeline.running.progress import QueryProgress
from ottla.runtime.dice import SystemDice
from ottla.runtime.system_clock import SystemClock
from ottla.tracing import SpanExport, SpanKind, Tracer
from ottla.version import __version__

_MS_PER_S: Final = 1_000
_NS_PER_MS: Final = 1_000_000


class PipelineTraces:
    """Each batch is a trace of its own: it processes messages of many traces."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def take(self, progress: QueryProgress) -> None:
        """A query that waits for records has progress without rows, and without a batch."""
        if not progress.rows:
            return
        attributes: dict[str, str | int] = {
            "ottla.query": progress.query,
            "ottla.batch.id": progress.batch_id,
            "ottla.batch.rows": progress.rows,
        }
        if progress.lag is not None:
            attributes["ottla.lag"] = progress.lag
        span = self._tracer.start(f"batch {progress.query}", SpanKind.CONSUMER, None, attributes)
        ended_ns = span.started_ns
        span.started_ns = ended_ns - progress.batch_ms * _NS_PER_MS
        if progress.timestamp:
            began = datetime.fromisoformat(progress.timestamp)
            span.started_ns = round(began.timestamp() * _MS_PER_S) * _NS_PER_MS
            ended_ns = span.started_ns + progress.batch_ms * _NS_PER_MS
        self._tracer.end(span, ended_ns=ended_ns)


@contextmanager
def exporting_traces(endpoint: OtlpEndpoint, queries: Sequence[str]) -> Iterator[PipelineTraces]:
    """Sends what is left when the block ends."""
    tracer = Tracer(SystemClock(), SystemDice())
    resource = {
        "service.name": "ottla-pipeline",
        "service.instance.id": ",".join(queries),
        "service.version": __version__,
    }
    export = SpanExport(tracer, endpoint, resource)
    export.start()
    try:
        yield PipelineTraces(tracer)
    finally:
        export.close()
