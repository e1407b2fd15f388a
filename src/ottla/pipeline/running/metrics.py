"""Prometheus metrics of a pipeline's progress, served over HTTP on the loopback interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

from ottla.pipeline.running.progress import QueryProgress

_HELP: Final = {
    "ottla_pipeline_batch_id": ("gauge", "Id of the last completed batch."),
    "ottla_pipeline_rows_total": ("counter", "Rows read since the pipeline started."),
    "ottla_pipeline_rows_per_second": ("gauge", "Rows per second that the last batch processed."),
    "ottla_pipeline_batch_seconds": ("gauge", "How long the last batch took."),
    "ottla_pipeline_lag_records": ("gauge", "Records in the topics that are still to be read."),
    "ottla_pipeline_state_rows": ("gauge", "Rows in the state of aggregations and joins."),
    "ottla_pipeline_watermark_seconds": (
        "gauge",
        "Watermark: event time before which rows are late.",
    ),
}


class PipelineMetrics:
    """One thread calls `take`, others call `text`. A query's values are replaced atomically."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, float]] = {}
        self._rows: dict[str, int] = {}

    def take(self, progress: QueryProgress) -> None:
        rows = self._rows[progress.query] = self._rows.get(progress.query, 0) + progress.rows
        values: dict[str, float] = {
            "ottla_pipeline_batch_id": progress.batch_id,
            "ottla_pipeline_rows_total": rows,
            "ottla_pipeline_rows_per_second": progress.rows_per_second,
            "ottla_pipeline_batch_seconds": progress.batch_ms / 1_000,
            "ottla_pipeline_state_rows": progress.state_rows,
        }
        if progress.lag is not None:
            values["ottla_pipeline_lag_records"] = progress.lag
        if progress.watermark is not None:
            moment = datetime.fromisoformat(progress.watermark)
            values["ottla_pipeline_watermark_seconds"] = moment.timestamp()
        self._values = {**self._values, progress.query: values}

    def text(self) -> str:
        lines = []
        for name, (kind, meaning) in _HELP.items():
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
            for query, values in self._values.items():
                if name in values:
                    lines.append(f'{name}{{query="{query}"}} {values[name]:.15g}')
        return "\n".join(lines) + "\n"


@contextmanager
def serving(metrics: PipelineMetrics, port: int) -> Iterator[int]:
    """Serves at the port, or at a free one if it is 0. Yields the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metrics.text().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
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
