"""Requests to registries are spans, and a write that one sends to another is one trace."""

from __future__ import annotations

from ottla.testing import Cluster
from tests.support.monitoring.otlp_collector import CollectedSpan, OtlpCollector
from tests.support.nodes.cluster_processes import wait_until
from tests.support.registry.registry_processes import running_registries

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"
ROUTE = "POST /subjects/{subject}/versions"


def test_a_forwarded_write_is_one_trace() -> None:
    with (
        OtlpCollector("/v1/traces") as collector,
        Cluster(properties={"group.initial.rebalance.delay.ms": "0"}) as cluster,
        running_registries(
            cluster.bootstrap, 2, f"--otlp-endpoint={collector.endpoint}"
        ) as registries,
    ):
        other = next(each for each in registries if not each.is_writer())
        answer = other.ask(
            "POST",
            "/subjects/a/versions",
            {"schema": '"int"'},
            traceparent=f"00-{TRACE}-{CALLER}-01",
        )
        assert answer.status == 200

        def spans() -> list[CollectedSpan]:
            return [each for each in collector.spans() if each.trace_id == TRACE]

        wait_until(lambda: len(spans()) == 2, "both instances have exported their spans")
        by_parent = {each.parent_id: each for each in spans()}
        received = by_parent[CALLER]
        written = by_parent[received.span_id]
        assert {each.span.name for each in (received, written)} == {ROUTE}
        assert received.resource["service.name"] == "ottla-registry"
        text = str(other.ask("GET", "/metrics", accept="text/plain").body)
        assert '\nottla_trace_spans_total{outcome="exported"}' in text
        assert '\nottla_trace_spans_total{outcome="dropped"} 0\n' in text
