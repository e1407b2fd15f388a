"""Errors as REST v2 has them: `{"error_code": 40401, "message": "…"}`."""

from __future__ import annotations

import functools
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ottla.web.gateway.answering import Handler, json_response
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS, problem_of
from ottla.web.gateway.problems import GatewayProblem
from ottla.web.service.problems import HttpProblem

TOPIC_NOT_FOUND: Final = 40401
PARTITION_NOT_FOUND: Final = 40402
CONSUMER_NOT_FOUND: Final = 40403
FORMAT_MISMATCH: Final = 40601
SCHEMA_RETRIEVAL: Final = 40801
CONSUMER_EXISTS: Final = 40902
ILLEGAL_STATE: Final = 40903
KEY_SCHEMA_MISSING: Final = 42201
VALUE_SCHEMA_MISSING: Final = 42202
INVALID_CONSUMER_CONFIG: Final = 42204
INVALID_DATA: Final = 42205
V2_JSON: Final = "application/vnd.kafka.v2+json"

# By the names of problems that other calls answer as well; else the status.
_CODES: Final = {
    "UNKNOWN_TOPIC_OR_PARTITION": TOPIC_NOT_FOUND,
    "SESSION_NOT_FOUND": CONSUMER_NOT_FOUND,
    "SESSION_EXISTS": CONSUMER_EXISTS,
    "ILLEGAL_STATE": ILLEGAL_STATE,
    "SASL_AUTHENTICATION_FAILED": 40101,
    "TOPIC_AUTHORIZATION_FAILED": 40301,
    "GROUP_AUTHORIZATION_FAILED": 40301,
    "CLUSTER_AUTHORIZATION_FAILED": 40301,
}
_RETRIABLE: Final = 50003
_NOT_RETRIABLE: Final = 50002
_SERVER_ERRORS: Final = 500


class V2Error(HttpProblem):
    """A problem with the number that REST v2 has for it."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(status, message, code=int(code))

    @classmethod
    def of(cls, problem: HttpProblem) -> V2Error:
        if isinstance(problem, V2Error):
            return problem
        error = cls(problem.status, error_code(problem), problem.message)
        error.headers.update(problem.headers)
        return error


def unprocessable(message: str, code: int = 422) -> V2Error:
    return V2Error(422, code, message)


def error_code(problem: HttpProblem) -> int:
    if problem.code is not None:
        return problem.code
    name = problem.error if isinstance(problem, GatewayProblem) else ""
    if name in _CODES:
        return _CODES[name]
    if problem.status >= _SERVER_ERRORS:
        is_retriable = isinstance(problem, GatewayProblem) and problem.retriable
        return _RETRIABLE if is_retriable else _NOT_RETRIABLE
    return problem.status


def answering_v2(handler: Handler) -> Handler:
    """The handler, raising every problem as one of REST v2."""

    @functools.wraps(handler)
    async def endpoint(request: Request) -> Response:
        try:
            return await handler(request)
        except HttpProblem as problem:
            raise V2Error.of(problem) from problem
        except CLIENT_ERRORS as error:
            raise V2Error.of(problem_of(error)) from error
        except ClientDisconnect:
            return Response(status_code=499)

    return endpoint


def v2_response(problem: V2Error) -> Response:
    response = json_response(
        {"error_code": problem.code, "message": problem.message},
        problem.status,
        media_type=V2_JSON,
    )
    response.headers.update(problem.headers)
    return response
