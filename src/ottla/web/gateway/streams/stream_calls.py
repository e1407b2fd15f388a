"""Streams of messages.

    GET /consumers/{group}/stream?topics=a,b     server-sent events: one event for each message
    WS  /consumers/{group}/stream?topics=a,b     the same as frames; commits and seeks come back
    WS  /topics/{topic}/messages                 each frame is a message to produce

A stream is a member of its group for as long as it lasts. What was sent is committed every few
seconds and at the end (`commit=auto`, the default of events), or by the client's own frames
(`commit=manual`, the default of WebSockets). A client that connects again continues behind what
was committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from ottla.web.gateway.answering import answering
from ottla.web.gateway.calls.consume_calls import group_name, instance_name
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS, problem_of
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.problems import bad_request, too_many
from ottla.web.gateway.query import topic_name
from ottla.web.gateway.sessions.gateway_sessions import ConsumerSession
from ottla.web.gateway.sessions.session_table import SessionName
from ottla.web.gateway.streams.consume_socket import ConsumeSocket
from ottla.web.gateway.streams.event_stream import EventStream
from ottla.web.gateway.streams.produce_socket import ProduceSocket
from ottla.web.service.problems import HttpProblem

_TOPICS_MAX: Final = 100
_AUTO: Final = "auto"
_MANUAL: Final = "manual"
# A close reason has at most 123 bytes.
_REASON_BYTES: Final = 120
_POLICY_VIOLATION: Final = 1008


class StreamCalls:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._sessions = gateway.sessions
        self._sockets = 0

    def routes(self) -> list[BaseRoute]:
        path = "/consumers/{group}/stream"
        return [
            Route(path, answering(self.stream), methods=["GET"]),
            WebSocketRoute(path, self.consume_socket),
            WebSocketRoute("/topics/{topic}/messages", self.produce_socket),
        ]

    async def stream(self, request: Request) -> Response:
        """Server-sent events."""
        commits = _commits_itself(request, _AUTO)
        session = await self._open(request)
        session.consumer.auto_commits = commits
        return EventStream(self._sessions, session)

    async def consume_socket(self, socket: WebSocket) -> None:
        try:
            commits = _commits_itself(socket, _MANUAL)
            session = await self._open(socket)
        except (HttpProblem, *CLIENT_ERRORS) as error:
            await _refuse(socket, error)
            return
        session.consumer.auto_commits = commits
        with self._counted():
            await ConsumeSocket(self._sessions, session, socket).run()

    async def produce_socket(self, socket: WebSocket) -> None:
        try:
            caller = await self._gateway.caller(socket.scope)
            topic = topic_name(socket.path_params["topic"])
            producer = await caller.producer()
            await producer.partition_count(topic)
            self._check_room()
        except (HttpProblem, *CLIENT_ERRORS) as error:
            await _refuse(socket, error)
            return
        with self._counted():
            await ProduceSocket(self._gateway, caller, topic, socket).run()

    # ----

    async def _open(self, connection: HTTPConnection) -> ConsumerSession:
        caller = await self._gateway.caller(connection.scope)
        group = group_name(connection.path_params["group"])
        names = connection.query_params.get("topics", "").split(",")
        topics = [topic_name(name) for name in dict.fromkeys(names) if name]
        if not 0 < len(topics) <= _TOPICS_MAX:
            raise bad_request(f"topics must have 1 to {_TOPICS_MAX} names, separated by commas.")
        reset = connection.query_params.get("from", "beginning")
        if reset not in ("beginning", "end"):
            raise bad_request("from must be beginning or end.")
        given = connection.query_params.get("instance")
        instance = instance_name(given) if given else self._new_name()
        options = self._sessions.options(
            group, instance, reset="latest" if reset == "end" else "earliest"
        )
        name = SessionName(caller.key, group, instance)
        session = await self._sessions.open(caller, name, options)
        try:
            await session.consumer.client.subscribe(topics)
        except BaseException:
            await self._sessions.close_session(name)
            raise
        session.consumer.mode = "topics"
        return session

    def _new_name(self) -> str:
        return f"stream-{self._gateway.dice.below(1 << 62):016x}"

    def _check_room(self) -> None:
        if self._sockets >= self._gateway.limits.streams_max:
            raise too_many("SESSIONS_EXHAUSTED", "The gateway has as many streams as it may.")

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._sockets += 1
        try:
            yield
        finally:
            self._sockets -= 1


def _commits_itself(connection: HTTPConnection, default: str) -> bool:
    given = connection.query_params.get("commit", default)
    if given not in (_AUTO, _MANUAL):
        raise bad_request("commit must be auto or manual.")
    return given == _AUTO


async def _refuse(socket: WebSocket, error: Exception) -> None:
    """Before the handshake is accepted, so that the client gets status 403."""
    problem = error if isinstance(error, HttpProblem) else problem_of(error)
    await socket.close(_POLICY_VIOLATION, problem.message[:_REASON_BYTES])
