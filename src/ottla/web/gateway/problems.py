"""Errors as `application/problem+json` (RFC 9457), with Kafka's names."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from ottla.model import ErrorCode
from ottla.web.service.problems import HttpProblem

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_S: Final = 1
_INVALID: Final = "INVALID_REQUEST"


class GatewayProblem(HttpProblem):
    """Answers a request with this status. `error` is Kafka's name of the error, or one of the
    server's own in the same style; `more` has further members of the JSON object."""

    def __init__(
        self,
        status: int,
        error: str,
        detail: str,
        *,
        retriable: bool = False,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(status, detail, headers=headers)
        self.error = error
        self.retriable = retriable
        self.more = dict(more or {})

    def members(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "type": "about:blank",
            "title": _title(self.status),
            "status": self.status,
            "detail": self.message,
            "error": self.error,
            "retriable": self.retriable,
            **self.more,
        }


def bad_request(detail: str) -> GatewayProblem:
    return GatewayProblem(HTTPStatus.BAD_REQUEST, _INVALID, detail)


def too_many(error: str, detail: str, *, retry_after_s: int = RETRY_AFTER_S) -> GatewayProblem:
    """The server is full: the same request may succeed later."""
    return GatewayProblem(
        HTTPStatus.TOO_MANY_REQUESTS,
        error,
        detail,
        retriable=True,
        headers={"Retry-After": str(retry_after_s)},
    )


def unauthorized(detail: str, *, scheme: str = "Basic") -> GatewayProblem:
    return GatewayProblem(
        HTTPStatus.UNAUTHORIZED,
        ErrorCode.SASL_AUTHENTICATION_FAILED.name,
        detail,
        headers={"WWW-Authenticate": f'{scheme} realm="Kafka"'},
    )


def no_partition(topic: str, partition: int) -> GatewayProblem:
    return GatewayProblem(
        404,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.name,
        f"The topic {topic} has no partition {partition}.",
        more={"error_code": int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)},
    )


def _title(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
