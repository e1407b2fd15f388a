"""Metrics of a pipeline's progress, served over HTTP on the loopback interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from ottla.metrics import Metrics, Sample, TextFormat, render
from ottla.metrics.rendering import text_format
from ottla.metrics.table import PIPELINE_FAMILIES, pipelines
from ottla.pipeline.running.progress import QueryProgress


class PipelineMetrics:
    """One thread calls `take`, others call `text`. A query's values are replaced atomically."""

    def __init__(self) -> None:
        # By query and name of the metric.
        self._values: dict[str, dict[str, float]] = {}
        self._rows: dict[str, int] = {}
        self._metrics = Metrics()
        for family in PIPELINE_FAMILIES:
            self._metrics.measure(family, partial(self._samples, family.name))

    def take(self, progress: QueryProgress) -> None:
        rows = self._rows[progress.query] = self._rows.get(progress.query, 0) + progress.rows
        values: dict[str, float] = {
            pipelines.BATCH_ID.name: progress.batch_id,
            pipelines.ROWS.name: rows,
            pipelines.ROWS_PER_SECOND.name: progress.rows_per_second,
            pipelines.BATCH_SECONDS.name: progress.batch_ms / 1_000,
            pipelines.STATE_ROWS.name: progress.state_rows,
        }
        if progress.lag is not None:
            values[pipelines.PIPELINE_LAG.name] = progress.lag
        if progress.watermark is not None:
            moment = datetime.fromisoformat(progress.watermark)
            values[pipelines.WATERMARK.name] = moment.timestamp()
        self._values = {**self._values, progress.query: values}

    def text(self, format_: TextFormat) -> str:
        return "".join(render(self._metrics, format_))

    def _samples(self, name: str) -> Iterator[Sample]:
        for query, values in self._values.items():
            if name in values:
                yield (query,), values[name]


@contextmanager
def serving(metrics: PipelineMetrics, port: int) -> Iterator[int]:
    """Serves at the port, or at a free one if it is 0. Yields the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            format_ = text_format(self.headers.get("Accept", ""))
            body = metrics.text(format_).encode()
            self.send_response(200)
            self.send_header("Content-Type", format_.value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Requests are not logged."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
