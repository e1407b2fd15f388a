"""A trace goes from a caller through the gateway into messages, and on to those that read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import websockets.sync.client
from confluent_kafka import Message, Producer

from tests.conformance.clients import TIMEOUT_S
from tests.conformance.gateway.test_calls import consumed
from tests.support.kafka.kafka_broker import Broker
from tests.support.monitoring.otlp_collector import CollectedSpan, OtlpCollector
from tests.support.nodes.cluster_processes import wait_until
from tests.support.web.brokers import OURS
from tests.support.web.gateway_process import GatewayProcess, running_gateway_process

pytestmark = OURS
TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"
HEADERS = {"traceparent": f"00-{TRACE}-{CALLER}-01", "tracestate": "congo=1"}
MESSAGE = {"value": None, "partition": 0}


@pytest.fixture(scope="module")
def collector() -> Iterator[OtlpCollector]:
    with OtlpCollector("/v1/traces") as collector:
        yield collector


@pytest.fixture(scope="module")
def traced(broker: Broker, collector: OtlpCollector) -> Iterator[GatewayProcess]:
    options = [f"--otlp-endpoint={collector.endpoint}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Tenant=main")
        with running_gateway_process(broker.bootstrap, options) as gateway:
            yield gateway


def span(collector: OtlpCollector, name: str, parent: str | None = None) -> CollectedSpan:
    """The last one of this name."""

    def found() -> list[CollectedSpan]:
        return [
            each
            for each in collector.spans()
            if each.span.name == name and parent in (None, each.parent_id)
        ]

    wait_until(lambda: bool(found()), f"the span {name} is exported")
    return found()[-1]


def trace_parent(message: Message) -> bytes:
    headers: list[Any] = list(message.headers() or [])
    [value] = [value for name, value in headers if name == "traceparent"]
    assert isinstance(value, bytes)
    return value


def test_a_message_continues_the_trace_of_its_request(
    traced: GatewayProcess, collector: OtlpCollector, broker: Broker, topic: str
) -> None:
    traced.post(f"/topics/{topic}/messages", MESSAGE, HEADERS)
    request = span(collector, "POST /topics/{topic}/messages")
    sent = span(collector, f"send {topic}")
    assert request.resource["service.name"] == "ottla-gateway"
    assert (request.trace_id, request.parent_id) == (TRACE, CALLER)
    assert request.attributes["http.response.status_code"] == 200
    assert (sent.trace_id, sent.parent_id) == (TRACE, request.span_id)
    assert sent.attributes["messaging.destination.name"] == topic
    [message] = consumed(broker, topic, 1)
    assert message.headers() == [
        ("traceparent", f"00-{TRACE}-{sent.span_id}-01".encode()),
        ("tracestate", b"congo=1"),
    ]
    assert collector.received[0].headers["X-Tenant"] == "main"


def test_what_is_read_is_linked_to_the_traces_of_the_messages(
    traced: GatewayProcess, collector: OtlpCollector, broker: Broker, topic: str, group: str
) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(topic, b"native", headers=list(HEADERS.items()))
    producer.produce(topic, b"without", headers=[("traceparent", b"invalid")])
    producer.flush(TIMEOUT_S)
    traced.post(f"/consumers/{group}/subscribe", {"topics": [topic]})
    found: list[object] = []
    while len(found) < 2:
        found += traced.get(f"/consumers/{group}/poll?timeout_ms=2000")["messages"]

    def links() -> list[list[str]]:
        return [each.links for each in collector.spans() if each.links]

    wait_until(lambda: bool(links()), "the span of the poll is exported")
    assert links() == [[CALLER]]


def test_a_trace_that_is_not_recorded_is_carried_and_not_exported(
    traced: GatewayProcess, collector: OtlpCollector, broker: Broker, topic: str
) -> None:
    path = f"/topics/{topic}/messages/batch"
    parent = f"00-{TRACE[::-1]}-{CALLER}-00"
    traced.post(path, {"messages": [MESSAGE]}, {"traceparent": parent})
    traced.post(path, {"messages": [MESSAGE]})
    begun = span(collector, f"send {topic}")
    first, second = map(trace_parent, consumed(broker, topic, 2))
    assert first.startswith(f"00-{TRACE[::-1]}-".encode())
    assert first.endswith(b"-00")
    assert second == f"00-{begun.trace_id}-{begun.span_id}-01".encode()
    assert not [each for each in collector.spans() if each.trace_id == TRACE[::-1]]


def test_a_socket_carries_the_trace_with_which_it_was_opened(
    traced: GatewayProcess, collector: OtlpCollector, broker: Broker, topic: str
) -> None:
    url = f"ws://{traced.host}:{traced.port}/topics/{topic}/messages"
    with websockets.sync.client.connect(url, additional_headers=HEADERS) as socket:
        socket.send('{"value": null, "partition": 0}')
        socket.recv(TIMEOUT_S)
    sent = span(collector, f"send {topic}", CALLER)
    [message] = consumed(broker, topic, 1)
    assert trace_parent(message) == f"00-{TRACE}-{sent.span_id}-01".encode()


def test_a_refusal_is_a_span_and_an_invalid_context_is_none(
    traced: GatewayProcess, collector: OtlpCollector, broker: Broker, topic: str
) -> None:
    headers = {"traceparent": "x" * 8_000}
    assert traced.call("POST", f"/topics/{topic}/partitions/9", None, headers).status == 404
    request = span(collector, "POST /topics/{topic}/partitions/{partition}")
    assert request.attributes["http.response.status_code"] == 404
    assert request.parent_id == ""


def test_a_gateway_without_a_collector_passes_on_no_invalid_context(
    gateway: GatewayProcess, broker: Broker, topic: str
) -> None:
    gateway.post(f"/topics/{topic}/messages", MESSAGE, {"traceparent": "x" * 8_000})
    gateway.post(f"/topics/{topic}/messages", MESSAGE, HEADERS)
    first, second = consumed(broker, topic, 2)
    assert not first.headers()
    assert second.headers() == [(name, value.encode()) for name, value in HEADERS.items()]
