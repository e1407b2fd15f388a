"""Traces of requests: a span for each, and the context that a request passes on.

Without a tracer, what a request passes on is what it came with.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from ottla.tracing import TRACE_PARENT, TRACE_STATE, SpanKind, TraceContext, Tracer, TraceSpan

_SPAN: Final = "ottla.span"
_PARENT: Final = TRACE_PARENT.encode()
_STATE: Final = TRACE_STATE.encode()
_SERVER_ERROR: Final = 500


def request_trace(scope: Mapping[str, Any]) -> TraceContext | None:
    """The span of the request, or else the context in its headers; None if it has neither."""
    span: TraceSpan | None = scope.get(_SPAN)
    return _of_headers(scope) if span is None else span.context


def request_span(scope: Mapping[str, Any]) -> TraceSpan | None:
    """None without a tracer."""
    span: TraceSpan | None = scope.get(_SPAN)
    return span


class RequestTraces:
    """Server spans, with the names of OpenTelemetry's conventions for HTTP."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def start(self, scope: MutableMapping[str, Any]) -> TraceSpan:
        method = scope["method"]
        attributes = {"http.request.method": method, "url.path": scope["path"]}
        span = self._tracer.start(method, SpanKind.SERVER, _of_headers(scope), attributes)
        scope[_SPAN] = span
        return span

    def end(self, span: TraceSpan, scope: Mapping[str, Any], status: int) -> None:
        route = getattr(scope.get("route"), "path", None)
        if route is not None:
            span.name = f"{span.name} {route}"
            span.attributes["http.route"] = route
        span.attributes["http.response.status_code"] = status
        self._tracer.end(span, f"status {status}" if status >= _SERVER_ERROR else None)


def _of_headers(scope: Mapping[str, Any]) -> TraceContext | None:
    parent = state = b""
    for name, value in scope["headers"]:
        if name == _PARENT:
            parent = value
        elif name == _STATE:
            state = state + b"," + value if state else value
    if not parent:
        return None
    return TraceContext.parse(parent.decode("latin-1"), state.decode("latin-1"))
