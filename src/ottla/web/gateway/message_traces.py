"""Traces of messages: what a request produces carries its trace, and what it reads is linked to it.

The names are those of OpenTelemetry's conventions for messaging.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

from ottla.client.records import ConsumedRecord
from ottla.tracing import TRACE_PARENT, Attributes, SpanKind, TraceContext, Tracer, TraceSpan
from ottla.web.gateway.messages.bodies import OutgoingMessage
from ottla.web.gateway.problems import GatewayProblem
from ottla.web.service.request_traces import request_span, request_trace

# Of one request.
_LINKS_MAX: Final = 128
_SYSTEM: Final = {"messaging.system": "kafka"}


class MessageTrace:
    """Of the messages of one request, from `with` until all of them are answered."""

    __slots__ = ("_headers", "_span", "_tracer")

    def __init__(
        self,
        context: TraceContext | None,
        tracer: Tracer | None = None,
        span: TraceSpan | None = None,
    ) -> None:
        self._headers = () if context is None else context.headers()
        self._tracer = tracer
        self._span = span

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, error: object, _where: object) -> None:
        if self._tracer is not None and self._span is not None:
            self._tracer.end(self._span, None if error is None else type(error).__name__)

    def added_to_all(
        self, messages: list[OutgoingMessage | GatewayProblem]
    ) -> list[OutgoingMessage | GatewayProblem]:
        if not self._headers:
            return messages
        return [
            each if isinstance(each, GatewayProblem) else self.added_to(each) for each in messages
        ]

    def added_to(self, message: OutgoingMessage) -> OutgoingMessage:
        """The message with the trace in its headers, unless it has one of its own."""
        if not self._headers or any(name == TRACE_PARENT for name, _ in message.headers):
            return message
        return message._replace(headers=message.headers + self._headers)


_NO_TRACE: Final = MessageTrace(None)


class MessageTraces:
    """One per gateway. Without a tracer, traces of callers are passed on."""

    def __init__(self, tracer: Tracer | None) -> None:
        self._tracer = tracer

    def sending(self, scope: Mapping[str, Any], topic: str, count: int = 1) -> MessageTrace:
        """Of messages to this topic."""
        context = request_trace(scope)
        tracer = self._tracer
        if tracer is None:
            return _NO_TRACE if context is None else MessageTrace(context)
        attributes: Attributes = {
            **_SYSTEM,
            "messaging.operation.name": "send",
            "messaging.operation.type": "send",
            "messaging.destination.name": topic,
            "messaging.batch.message_count": count,
        }
        span = tracer.start(f"send {topic}", SpanKind.PRODUCER, context, attributes)
        return MessageTrace(span.context, tracer, span)

    def received(
        self, scope: Mapping[str, Any], group: str, records: Iterable[ConsumedRecord]
    ) -> None:
        """Links the span of the request to the traces of the messages that it returns."""
        span = request_span(scope)
        if span is None:
            return
        links: list[TraceContext] = []
        count = 0
        for record in records:
            count += 1
            if record.headers and len(links) < _LINKS_MAX:
                context = TraceContext.of_headers(record.headers)
                if context is not None:
                    links.append(context)
        span.links = tuple(links)
        span.attributes |= {
            **_SYSTEM,
            "messaging.operation.name": "poll",
            "messaging.operation.type": "receive",
            "messaging.consumer.group.name": group,
            "messaging.batch.message_count": count,
        }
