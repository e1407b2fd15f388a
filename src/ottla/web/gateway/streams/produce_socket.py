"""A WebSocket on which each frame is a message to produce.

Frames are as the body of `POST /topics/{topic}/messages`. They are answered in their order, each
when the cluster has acknowledged its message: with where it is, or with `{"error": …}`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from ottla.web.gateway.callers.caller_clients import CallerClients
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS, problem_of
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.messages.answers import MessageOutcome, encoder
from ottla.web.gateway.messages.bodies import decode_message
from ottla.web.gateway.problems import GatewayProblem

_IN_FLIGHT_MAX: Final = 500


class ProduceSocket:
    def __init__(
        self, gateway: Gateway, caller: CallerClients, topic: str, socket: WebSocket
    ) -> None:
        self._gateway = gateway
        self._caller = caller
        self._topic = topic
        self._socket = socket
        self._outcomes: asyncio.Queue[asyncio.Task[Any] | None] = asyncio.Queue(_IN_FLIGHT_MAX)

    async def run(self) -> None:
        await self._socket.accept()
        tasks = self._gateway.sessions.tasks
        answering = tasks.start("answering a socket", self._answer())
        self._caller.users += 1
        try:
            while True:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                body = message.get("bytes") or (message.get("text") or "").encode()
                await self._outcomes.put(tasks.start("producing a frame", self._produce(body)))
            await self._outcomes.put(None)
            await asyncio.wait([answering])
        finally:
            self._caller.users -= 1
            answering.cancel()

    async def _produce(self, body: bytes) -> MessageOutcome:
        try:
            message = decode_message(body)
            producing = self._gateway.producing
            with self._gateway.traces.sending(self._socket.scope, self._topic) as trace:
                message = trace.added_to(message)
                return MessageOutcome.of(await producing.send(self._caller, self._topic, message))
        except GatewayProblem as problem:
            return MessageOutcome.of(problem)
        except CLIENT_ERRORS as error:
            return MessageOutcome.of(problem_of(error))

    async def _answer(self) -> None:
        is_gone = False
        while (outcome := await self._outcomes.get()) is not None:
            found = await outcome
            if is_gone:
                continue
            try:
                await self._socket.send_text(encoder.encode(found).decode())
            except (WebSocketDisconnect, RuntimeError):
                # The messages that are on their way are still produced.
                is_gone = True
