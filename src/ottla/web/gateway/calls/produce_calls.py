"""`POST /topics/{topic}/messages` and `…/messages/batch`."""

from __future__ import annotations

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
from ottla.web.gateway.messages.bodies import decode_batch, decode_message
from ottla.web.gateway.query import topic_name
from ottla.web.service.bodies import read_body


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
        message = decode_message(body)
        with gateway.traces.sending(request.scope, topic) as trace:
            found = await gateway.producing.send(caller, topic, trace.added_to(message))
        return json_response(ProducedMessage.of(found))

    async def produce_batch(self, request: Request) -> Response:
        gateway = self._gateway
        caller = await gateway.caller(request.scope)
        topic = topic_name(request.path_params["topic"])
        body = await read_body(request, bytes_max=gateway.limits.body_bytes_max)
        messages = decode_batch(body, messages_max=gateway.limits.batch_messages_max)
        with gateway.traces.sending(request.scope, topic, len(messages)) as trace:
            messages = trace.added_to_all(messages)
            outcomes = await gateway.producing.send_all(caller, topic, messages)
        return json_response(MessagesAnswer(list(map(MessageOutcome.of, outcomes))))
