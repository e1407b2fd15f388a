"""The application of a gateway: all its paths."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from ottla.web.gateway.answering import problem_response
from ottla.web.gateway.calls.consume_calls import ConsumeCalls
from ottla.web.gateway.calls.produce_calls import ProduceCalls
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.openapi.pages import OpenApiPages
from ottla.web.gateway.rest_v2.embedded_formats import EmbeddedFormats
from ottla.web.gateway.rest_v2.v2_errors import V2Error, v2_response
from ottla.web.gateway.rest_v2.v2_instances import V2InstanceCalls
from ottla.web.gateway.rest_v2.v2_produce import V2ProduceCalls
from ottla.web.gateway.rest_v2.v2_reading import V2ReadingCalls
from ottla.web.gateway.rest_v2.v2_topics import V2TopicCalls
from ottla.web.gateway.streams.stream_calls import StreamCalls
from ottla.web.service.problems import HttpProblem


def gateway_routes(gateway: Gateway, formats: EmbeddedFormats) -> list[BaseRoute]:
    """Both kinds of calls, streams, and their description."""
    return [
        *ProduceCalls(gateway).routes(),
        *ConsumeCalls(gateway).routes(),
        *StreamCalls(gateway).routes(),
        *V2ProduceCalls(gateway, formats).routes(),
        *V2InstanceCalls(gateway).routes(),
        *V2ReadingCalls(gateway, formats).routes(),
        *V2TopicCalls(gateway).routes(),
        *OpenApiPages().routes(),
    ]


class WithoutTrailingSlash:
    """Paths with a slash at their end are those without, as in other proxies of REST v2."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if path.endswith("/") and len(path) > 1:
            raw = scope.get("raw_path") or b""
            scope = {**scope, "path": path.rstrip("/") or "/", "raw_path": raw.rstrip(b"/")}
        await self._application(scope, receive, send)


def render_problem(problem: HttpProblem) -> Response:
    return v2_response(problem) if isinstance(problem, V2Error) else problem_response(problem)
