"""All routes: those of Kafka Connect that fit, and a few of our own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ottla.web.service.application import identity_of
from ottla.web.service.problems import forbidden
from ottla.web.supervisor.api.changing import SupervisorChanges
from ottla.web.supervisor.api.reading import ReadingApi

Handler = Callable[[Request], Awaitable[Response]]

# The bits of READ and DESCRIBE, and of WRITE.
_READ_BITS: Final = 1 << 3 | 1 << 8
_WRITE_BITS: Final = 1 << 4


def supervisor_routes(reading: ReadingApi, changing: SupervisorChanges) -> list[BaseRoute]:
    one = "/connectors/{name}"
    reads: list[tuple[str, str, Handler]] = [
        ("GET", "/", reading.root),
        ("GET", "/connectors", reading.names),
        ("GET", one, reading.info),
        ("GET", f"{one}/config", reading.config),
        ("GET", f"{one}/tasks", reading.tasks),
        ("GET", f"{one}/status", reading.status),
        ("GET", f"{one}/history", reading.history),
        ("GET", f"{one}/logs", reading.logs),
    ]
    writes: list[tuple[str, str, Handler]] = [
        ("POST", "/connectors", changing.create),
        ("PUT", f"{one}/config", changing.put_config),
        ("PUT", f"{one}/config/validate", changing.validate),
        ("PUT", f"{one}/pause", changing.pause),
        ("PUT", f"{one}/resume", changing.resume),
        ("PUT", f"{one}/stop", changing.stop),
        ("POST", f"{one}/restart", changing.restart),
        ("DELETE", one, changing.remove),
    ]
    return [
        *(_route(*each, bits=_READ_BITS, right="read") for each in reads),
        *(_route(*each, bits=_WRITE_BITS, right="write to") for each in writes),
    ]


def _route(method: str, path: str, handler: Handler, *, bits: int, right: str) -> Route:
    """For callers whom the cluster allows this on the supervisors' topic."""

    async def allowed(request: Request) -> Response:
        if not identity_of(request).operations & bits:
            raise forbidden(f"the cluster does not allow you to {right} the topic of supervisors")
        return await handler(request)

    allowed.__name__ = handler.__name__
    return Route(path, allowed, methods=[method])
