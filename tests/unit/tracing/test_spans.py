"""Spans in OTLP, as the official messages of OpenTelemetry read them, and what is kept of them."""

from __future__ import annotations

import random  # noqa: TID251  a seed of its own

import pytest

from ottla.configs.otlp_endpoint import OtlpEndpoint, parse_otlp_endpoint
from ottla.runtime.dice import RandomDice
from ottla.runtime.https_request import HttpsError
from ottla.runtime.system_clock import SystemClock
from ottla.tracing import SpanExport, SpanKind, TraceContext, Tracer
from ottla.tracing.span_encoding import export_spans
from tests.support.monitoring.otlp_collector import OtlpCollector, spans_of
from tests.support.nodes.cluster_processes import wait_until

PARENT = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 1, "congo=1")
RESOURCE = {"service.name": "ottla-gateway"}


def tracer(**options: float) -> Tracer:
    return Tracer(SystemClock(), RandomDice(random.Random(7)), **options)


def endpoint(url: str) -> OtlpEndpoint:
    found = parse_otlp_endpoint(url + "/v1/traces", None)
    assert found is not None
    return found


def test_a_span_has_everything_that_a_collector_needs() -> None:
    traces = tracer()
    span = traces.start("POST /topics", SpanKind.SERVER, PARENT, {"a": "text", "n": -5})
    span.links = (PARENT._replace(span_id="00000000000000aa"),)
    traces.end(span, "status 500")
    (found,) = spans_of(export_spans(traces.take(), RESOURCE))
    assert found.resource == RESOURCE
    assert (found.trace_id, found.parent_id) == (PARENT.trace_id, PARENT.span_id)
    assert found.span_id == span.context.span_id != PARENT.span_id
    assert (found.span.name, found.span.kind) == ("POST /topics", SpanKind.SERVER)
    assert found.span.trace_state == "congo=1"
    assert found.attributes == {"a": "text", "n": -5}
    assert found.links == ["00000000000000aa"]
    assert (found.span.status.code, found.span.status.message) == (2, "status 500")
    now_ns = SystemClock().now_ms() * 1_000_000
    assert now_ns - 60e9 < found.span.start_time_unix_nano <= found.span.end_time_unix_nano
    assert found.span.end_time_unix_nano < now_ns + 60e9


def test_a_step_follows_another_in_one_trace() -> None:
    traces = tracer()
    outer = traces.start("outer", SpanKind.SERVER, None, {})
    inner = traces.start("inner", SpanKind.PRODUCER, outer.context, {})
    traces.end(inner)
    traces.end(outer)
    first, second = spans_of(export_spans(traces.take(), RESOURCE))
    assert first.trace_id == second.trace_id
    assert (first.parent_id, second.parent_id) == (second.span_id, "")
    assert second.span.start_time_unix_nano <= first.span.start_time_unix_nano
    assert first.span.status.code == 0


def test_who_begins_a_trace_says_whether_it_is_recorded() -> None:
    for parent, ratio, count in ((PARENT._replace(flags=0), 1.0, 0), (PARENT, 0.0, 1)):
        traces = tracer(sample_ratio=ratio)
        span = traces.start("a", SpanKind.SERVER, parent, {})
        traces.end(span)
        assert span.context.is_sampled == bool(count)
        assert len(traces.take()) == count
    traces = tracer(sample_ratio=0.25)
    for _ in range(1_000):
        traces.end(traces.start("a", SpanKind.SERVER, None, {}))
    assert 180 < len(traces.take()) < 320


def test_what_waits_for_a_collector_is_bounded() -> None:
    traces = tracer()
    for number in range(10_000):
        traces.end(traces.start(str(number), SpanKind.SERVER, None, {}))
    assert traces.wanted.is_set()
    assert traces.dropped == 10_000 - 8_192
    taken = traces.take()
    assert [span.name for span in taken] == [str(number) for number in range(512)]
    traces.end(traces.start("more", SpanKind.SERVER, None, {}))
    traces.give_back(taken)
    assert traces.dropped == 10_000 - 8_192 + 1
    # The oldest one made room.
    assert next(span.name for span in traces.take()) == "1"


@pytest.mark.parametrize(("status", "is_kept"), [(503, True), (0, True), (400, False)])
def test_a_collector_gets_later_what_it_could_not_take(status: int, is_kept: bool) -> None:
    traces, bodies = tracer(), list[bytes]()
    failures = [HttpsError("collector: it responded", status)]

    def post(_endpoint: OtlpEndpoint, body: bytes) -> None:
        if failures:
            raise failures.pop()
        bodies.append(body)

    traces.end(traces.start("a", SpanKind.SERVER, None, {}))
    export = SpanExport(traces, endpoint("http://127.0.0.1:1"), RESOURCE, post)
    export.start()
    traces.wanted.set()
    wait_until(lambda: not failures, "it was tried")
    export.close()
    assert [len(list(spans_of(body))) for body in bodies] == [1] * is_kept
    assert (export.exported, traces.dropped) == (int(is_kept), int(not is_kept))


def test_spans_reach_a_collector_over_http() -> None:
    traces = tracer()
    with OtlpCollector("/v1/traces") as collector:
        export = SpanExport(traces, endpoint(collector.endpoint), RESOURCE)
        export.start()
        for number in range(600):
            traces.end(traces.start(str(number), SpanKind.SERVER, None, {}))
        export.close()
        assert [each.span.name for each in collector.spans()] == [str(each) for each in range(600)]
        assert export.exported == 600


def test_an_export_that_never_started_ends() -> None:
    SpanExport(tracer(), endpoint("http://127.0.0.1:1"), RESOURCE).close()
