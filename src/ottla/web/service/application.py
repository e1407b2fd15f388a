"""An ASGI application from routes: everything that all programs do with a request.

A request is identified, routed, answered and counted. What a handler raises becomes a response in
the format of the program; an unexpected error is logged with its request and answered with 500.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ottla.web.service.identity import ANONYMOUS, WebAuthenticator, WebIdentity
from ottla.web.service.listening import is_loopback_host
from ottla.web.service.monitoring import OPEN_PATHS, UNTRACED_PATHS, WebMonitoring
from ottla.web.service.paths import keep_encoded_slashes
from ottla.web.service.problems import HttpProblem, forbidden
from ottla.web.service.request_traces import RequestTraces
from ottla.web.service.route_index import RouteIndex

_log = logging.getLogger(__name__)

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
RenderProblem: TypeAlias = Callable[[HttpProblem], Response]

_IDENTITY: Final = "ottla.identity"
_UNKNOWN_ROUTE: Final = "none"
_FAILED: Final = 500


def identity_of(request: Request) -> WebIdentity:
    identity: WebIdentity = request.scope.get(_IDENTITY, ANONYMOUS)
    return identity


class _Endpoint:
    """A handler as an application. Starlette's own handles exceptions too, twice for each request:
    WebApplication does that."""

    __slots__ = ("_handler",)

    def __init__(self, handler: Callable[[Request], Awaitable[Response]]) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._handler(Request(scope, receive, send))
        await response(scope, receive, send)


class WebApplication:
    """`is_local`: the program listens on the loopback address without authentication, so only
    requests to a loopback name are answered: a web page that is open in a browser must not reach
    the program under a name of its own. With `traces`, requests are spans of a trace."""

    def __init__(
        self,
        routes: Sequence[BaseRoute],
        monitoring: WebMonitoring,
        authenticator: WebAuthenticator,
        render_problem: RenderProblem,
        *,
        is_local: bool,
        traces: RequestTraces | None = None,
    ) -> None:
        routes = [*routes, *monitoring.routes()]
        for route in routes:
            if isinstance(route, Route):
                route.app = _Endpoint(route.endpoint)
        self._routes = RouteIndex(routes, _no_route)
        self._monitoring = monitoring
        self._authenticator = authenticator
        self._render_problem = render_problem
        self._is_local = is_local
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        keep_encoded_slashes(scope)
        # The router expects the application to which redirects and mounts belong.
        scope["app"] = self
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        began = self._monitoring.started()
        traces = self._traces
        span = traces.start(scope) if traces and scope["path"] not in UNTRACED_PATHS else None
        # 0 until the response has begun.
        status = 0

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            try:
                await self._identify(scope)
                await self._routes.of(scope["path"])(scope, receive, watched)
            except Exception as error:
                if status:
                    raise
                response = self._render_problem(_problem_of(error, scope))
                await response(scope, receive, watched)
        finally:
            status = status or _FAILED
            handler = scope.get("endpoint")
            route = getattr(handler, "__name__", _UNKNOWN_ROUTE) if handler else _UNKNOWN_ROUTE
            self._monitoring.ended(began, route, scope["method"], status)
            if traces is not None and span is not None:
                traces.end(span, scope, status)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._identify(scope)
        except HttpProblem as problem:
            await send({"type": "websocket.close", "code": 1008, "reason": problem.message[:120]})
            return
        await self._routes.of(scope["path"])(scope, receive, send)

    async def _identify(self, scope: Scope) -> None:
        found = {name: value for name, value in scope["headers"] if name in _LOOKED_AT}
        host = found.get(b"host", b"").decode("latin-1")
        if self._is_local and not is_loopback_host(_host_name(host)):
            raise forbidden(f"this program answers only to loopback names, not to {host!r}")
        origin = found.get(b"origin", b"").decode("latin-1")
        if origin and origin.partition("://")[2] != host:
            raise forbidden("requests of other web pages are refused")
        if scope["path"] not in OPEN_PATHS:
            authorization = found.get(b"authorization", b"").decode("latin-1")
            scope[_IDENTITY] = await self._authenticator.identify(authorization)


_LOOKED_AT: Final = frozenset((b"host", b"origin", b"authorization"))


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _problem_of(error: Exception, scope: Scope) -> HttpProblem:
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, HTTPException):
        return HttpProblem(error.status_code, error.detail, headers=error.headers)
    _log.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
    return HttpProblem(500, "internal error; the log of this program has the reason")


async def _no_route(scope: Scope, _receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1000, "reason": "not found"})
        return
    raise HttpProblem(404, f"{scope['method']} {scope['path']} is not served here")
