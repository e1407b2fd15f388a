"""Responses, and the problems that errors of the cluster are."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ottla.web.gateway.cluster_problems import CLIENT_ERRORS, problem_of
from ottla.web.gateway.problems import MEDIA_TYPE, GatewayProblem
from ottla.web.service.problems import HttpProblem

JSON: Final = "application/json"
# Not sent: the client has left.
_CLIENT_GONE: Final = 499

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
_encoder: Final = msgspec.json.Encoder()


def json_response(found: Any, status: int = 200, *, media_type: str = JSON) -> Response:
    return Response(_encoder.encode(found), status, media_type=media_type)


def answering(handler: Handler) -> Handler:
    """The handler, raising problems for what clients of the cluster raise."""

    @functools.wraps(handler)
    async def endpoint(request: Request) -> Response:
        try:
            return await handler(request)
        except CLIENT_ERRORS as error:
            raise problem_of(error) from error
        except ClientDisconnect:
            return Response(status_code=_CLIENT_GONE)

    return endpoint


def problem_response(problem: HttpProblem) -> Response:
    if not isinstance(problem, GatewayProblem):
        problem = _named(problem)
    return Response(
        _encoder.encode(problem.members()),
        problem.status,
        headers=problem.headers,
        media_type=MEDIA_TYPE,
    )


def _named(problem: HttpProblem) -> GatewayProblem:
    """A problem of the web server itself."""
    names = {401: "SASL_AUTHENTICATION_FAILED", 413: "MESSAGE_TOO_LARGE"}
    name = names.get(problem.status, "INVALID_REQUEST" if problem.status < 500 else "")
    return GatewayProblem(
        problem.status,
        name or "UNKNOWN_SERVER_ERROR",
        problem.message,
        headers=problem.headers,
    )
