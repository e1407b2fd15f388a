"""What went wrong with a request. Each program renders problems in its clients' format."""

from __future__ import annotations

from collections.abc import Mapping


class HttpProblem(Exception):  # noqa: N818 - its name is RFC 9457's
    """Ends a request with this status. `code` is the program's own error code, if it has codes;
    `headers` are added to the response."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers = dict(headers or {})


def unauthorized(message: str) -> HttpProblem:
    return HttpProblem(401, message, headers={"www-authenticate": 'Basic realm="ottla"'})


def forbidden(message: str) -> HttpProblem:
    return HttpProblem(403, message)
