"""`POST /topics/{topic}/messages` and `…/messages/batch`."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ottla.web.gateway.answering import answering, json_response
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.messages.answers import (
    MessageOutcome,
    MessagesAnswer,
    ProducedMessage,
)
from ottla.web.gateway.messages.bodies import OutgoingMessage, decode_batch, decode_message
from ottla.web.gateway.problems import GatewayProblem
from ottla.web.gateway.query import topic_name
from ottla.web.service.bodies import read_body

TRACE_PARENT: Final = "traceparent"


class ProduceCalls:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/topics/{topic}/messages", answering(self.produce), methods=["POST"]),
            Route(
                "/topics/{topic}/messages/batch", answering(self.produce_batch), methods=["POST"]
            ),
        ]

    async def produce(self, request: Request) -> Response:
        gateway = self._gateway
        caller = await gateway.caller(request.scope)
        topic = topic_name(request.path_params["topic"])
        body = await read_body(request, bytes_max=gateway.limits.body_bytes_max)
        message = traced(decode_message(body), request.headers.get(TRACE_PARENT))
        found = await gateway.producing.send(caller, topic, message)
        return json_response(ProducedMessage.of(found))

    async def produce_batch(self, request: Request) -> Response:
        gateway = self._gateway
        caller = await gateway.caller(request.scope)
        topic = topic_name(request.path_params["topic"])
        body = await read_body(request, bytes_max=gateway.limits.body_bytes_max)
        messages = decode_batch(body, messages_max=gateway.limits.batch_messages_max)
        trace = request.headers.get(TRACE_PARENT)
        if trace is not None:
            messages = [
                each if isinstance(each, GatewayProblem) else traced(each, trace)
                for each in messages
            ]
        outcomes = await gateway.producing.send_all(caller, topic, messages)
        return json_response(MessagesAnswer(list(map(MessageOutcome.of, outcomes))))


def traced(message: OutgoingMessage, trace: str | None) -> OutgoingMessage:
    """The message with the request's trace context, unless it has one of its own."""
    if trace is None or any(name == TRACE_PARENT for name, _ in message.headers):
        return message
    return message._replace(headers=(*message.headers, (TRACE_PARENT, trace.encode("latin-1"))))
