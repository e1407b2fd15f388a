"""An OpenTelemetry collector as far as metrics and traces over HTTP go: it decodes what it receives
with the official messages of OpenTelemetry, and keeps it."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

RESPONSES: dict[str, Any] = {
    "/v1/metrics": ExportMetricsServiceResponse,
    "/v1/traces": ExportTraceServiceResponse,
}


class Received(NamedTuple):
    headers: Mapping[str, str]
    body: bytes

    @property
    def request(self) -> ExportMetricsServiceRequest:
        request = ExportMetricsServiceRequest()
        request.ParseFromString(self.body)
        return request


class CollectedSpan(NamedTuple):
    """A span of OTLP, with the names that this project uses: ids are hexadecimal."""

    resource: Mapping[str, str]
    span: Any
    attributes: Mapping[str, str | int]

    @property
    def trace_id(self) -> str:
        return str(self.span.trace_id.hex())

    @property
    def span_id(self) -> str:
        return str(self.span.span_id.hex())

    @property
    def parent_id(self) -> str:
        return str(self.span.parent_span_id.hex())

    @property
    def links(self) -> list[str]:
        """The ids of the spans that it is linked to."""
        return [each.span_id.hex() for each in self.span.links]


class Point(NamedTuple):
    """A data point with the metric that it belongs to."""

    metric: Any
    resource: Mapping[str, str]
    labels: Mapping[str, str]
    point: Any

    @property
    def value(self) -> float:
        return float(getattr(self.point, str(self.point.WhichOneof("value"))))


def points_of(request: ExportMetricsServiceRequest) -> Iterator[Point]:
    for of_resource in request.resource_metrics:
        resource = _texts(of_resource.resource.attributes)
        for scope in of_resource.scope_metrics:
            for metric in scope.metrics:
                for point in getattr(metric, str(metric.WhichOneof("data"))).data_points:
                    yield Point(metric, resource, _texts(point.attributes), point)


def spans_of(body: bytes) -> Iterator[CollectedSpan]:
    request = ExportTraceServiceRequest()
    request.ParseFromString(body)
    for of_resource in request.resource_spans:
        resource = _texts(of_resource.resource.attributes)
        for scope in of_resource.scope_spans:
            for span in scope.spans:
                attributes: dict[str, str | int] = {
                    each.key: getattr(each.value, str(each.value.WhichOneof("value")))
                    for each in span.attributes
                }
                yield CollectedSpan(resource, span, attributes)


class OtlpCollector:
    """Serves in a thread during its `with`. `status` is what it answers. `path` is that of the
    only requests that it expects."""

    def __init__(self, path: str = "/v1/metrics") -> None:
        self.status = 200
        self._path = path
        self._received: list[Received] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                collector._receive(self)

            def log_message(self, format: str, *arguments: object) -> None: ...  # noqa: A002

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def received(self) -> list[Received]:
        return list(self._received)

    @property
    def bytes(self) -> int:
        """The size of everything received, which is not decoded for that."""
        return sum(len(each.body) for each in self.received)

    def all_points(self) -> Iterator[Point]:
        for each in self.received:
            yield from points_of(each.request)

    def spans(self) -> list[CollectedSpan]:
        return [span for each in self.received for span in spans_of(each.body)]

    def value(self, name: str, **labels: str) -> float | None:
        """The last value of a number."""
        found = None
        for each in self.all_points():
            if each.metric.name == name and each.labels == labels:
                found = each.value
        return found

    def clear(self) -> None:
        self._received.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _receive(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        assert handler.path == self._path
        assert handler.headers["Content-Type"] == "application/x-protobuf"
        if handler.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        if self.status == 200:
            self._received.append(Received(dict(handler.headers), body))
        response = RESPONSES[self._path]().SerializeToString()
        handler.send_response(self.status)
        handler.send_header("Content-Type", "application/x-protobuf")
        handler.send_header("Content-Length", str(len(response)))
        handler.end_headers()
        handler.wfile.write(response)


def _texts(attributes: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in attributes}
