"""Traces of an application: they continue in the headers of what it sends."""

from __future__ import annotations

import asyncio

import pytest

from ottla.client.errors import ConfigError
from ottla.client.records import ConsumedRecord
from ottla.client.tracing import Tracing
from ottla.runtime.system_clock import SystemClock
from ottla.wire.records.header import TimestampType
from tests.support.monitoring.otlp_collector import OtlpCollector

TRACE = "0af7651916cd43dd8448eb211c80319c"
SENDER = "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SENDER}-01".encode()


def record(offset: int = 7, parent: bytes | None = PARENT) -> ConsumedRecord:
    headers = () if parent is None else (("traceparent", parent),)
    return ConsumedRecord(
        "orders", 1, offset, 0, TimestampType.CREATE_TIME, None, b"value", headers
    )


def test_what_is_sent_continues_the_trace_of_what_is_processed() -> None:
    with OtlpCollector("/v1/traces") as collector:
        with Tracing(collector.endpoint, service="billing", headers={"X-Token": "a"}) as tracing:
            with tracing.processing(record()), tracing.sending("invoices") as headers:
                pass
            with tracing.sending("others") as own:
                pass
        assert collector.received[0].headers["X-Token"] == "a"
        send, process, other = collector.spans()
    assert process.resource["service.name"] == "billing"
    assert (process.span.name, process.trace_id, process.parent_id) == (
        "process orders",
        TRACE,
        SENDER,
    )
    assert process.attributes["messaging.kafka.offset"] == 7
    assert (send.span.name, send.trace_id, send.parent_id) == (
        "send invoices",
        TRACE,
        process.span_id,
    )
    assert headers == [("traceparent", f"00-{TRACE}-{send.span_id}-01".encode())]
    assert other.parent_id == ""
    assert own == [("traceparent", f"00-{other.trace_id}-{other.span_id}-01".encode())]


def test_several_records_are_one_step_with_links() -> None:
    with OtlpCollector("/v1/traces") as collector:
        with (
            Tracing(collector.endpoint) as tracing,
            pytest.raises(ValueError, match="broken"),
            tracing.processing(record(1), record(2, None), record(3, b"invalid"), record(4)),
        ):
            raise ValueError("broken")
        (process,) = collector.spans()
    assert process.links == [SENDER, SENDER]
    assert process.trace_id != TRACE
    assert process.attributes["messaging.batch.message_count"] == 4
    assert (process.span.status.code, process.span.status.message) == (2, "ValueError")


def test_without_an_endpoint_traces_are_passed_on() -> None:
    with Tracing() as tracing:
        with tracing.sending("invoices") as headers:
            assert headers == []
        with tracing.processing(record()), tracing.sending("invoices") as headers:
            assert headers == [("traceparent", PARENT)]


def test_tasks_have_traces_of_their_own() -> None:
    async def step(tracing: Tracing, parent: bytes) -> list[tuple[str, bytes]]:
        with tracing.processing(record(parent=parent)):
            await SystemClock().sleep(0)
            with tracing.sending("invoices") as headers:
                return headers

    async def story() -> None:
        other = PARENT.replace(b"0af7", b"aaaa")
        async with Tracing() as tracing:
            found = await asyncio.gather(step(tracing, PARENT), step(tracing, other))
        assert [dict(each)["traceparent"] for each in found] == [PARENT, other]

    asyncio.run(story())


@pytest.mark.parametrize("endpoint", ["", "collector:4318", "ftp://a", "http://me:secret@a"])
def test_an_endpoint_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Tracing(endpoint)
    assert "secret" not in str(refused.value)
