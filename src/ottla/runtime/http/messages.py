"""The head of an HTTP request, parsed strictly, and the head of a response. Does no I/O.

Only GET and HEAD without a body are accepted: the server has pages to read and nothing to change.
What is refused gets a status that says why.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

HEAD_END: Final = b"\r\n\r\n"
_METHODS: Final = ("GET", "HEAD")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET: Final = re.compile(r"/[!-~]*")
_VERSIONS: Final = ("HTTP/1.0", "HTTP/1.1")
_PLAIN: Final = "text/plain; charset=utf-8"


class RefusedRequestError(Exception):
    """A request that is answered with `status` and the message."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class HttpRequest(NamedTuple):
    """The names of `headers` are in lower case; values of repeated headers are joined."""

    method: str
    path: str
    version: str
    headers: Mapping[str, str]

    @property
    def is_head(self) -> bool:
        return self.method == "HEAD"


class HttpResponse(NamedTuple):
    """A body that is generated is sent while it is generated, at the pace of the client."""

    body: bytes | AsyncGenerator[bytes, None]
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = _PLAIN


def parse_request(head: bytes) -> HttpRequest:
    """Parses a head without its end. Raises RefusedRequestError."""
    try:
        first, *lines = head.decode("ascii").split("\r\n")
    except UnicodeDecodeError:
        raise _bad("the request is not ASCII text") from None
    parts = first.split(" ")
    if len(parts) != 3:
        raise _bad("the request line must be METHOD TARGET VERSION")
    method, target, version = parts
    if version not in _VERSIONS:
        raise RefusedRequestError(
            HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, f"use {' or '.join(_VERSIONS)}"
        )
    if method not in _METHODS:
        raise RefusedRequestError(HTTPStatus.METHOD_NOT_ALLOWED, f"use {' or '.join(_METHODS)}")
    if _TARGET.fullmatch(target) is None:
        raise _bad("the target must be a path")
    headers = _parse_headers(lines)
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        raise RefusedRequestError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "send the request without a body"
        )
    return HttpRequest(method, target.partition("?")[0], version, headers)


def response_head(response: HttpResponse, *, is_chunked: bool) -> bytes:
    """Every response closes the connection."""
    status = response.status
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {response.content_type}",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    if isinstance(response.body, bytes):
        lines.append(f"Content-Length: {len(response.body)}")
    elif is_chunked:
        lines.append("Transfer-Encoding: chunked")
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        lines.append(f"Allow: {', '.join(_METHODS)}")
    return "\r\n".join(lines).encode() + HEAD_END


def _parse_headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or _TOKEN.fullmatch(name) is None:
            raise _bad("a header must be NAME: VALUE")
        name = name.lower()
        known = headers.get(name)
        headers[name] = value.strip() if known is None else f"{known}, {value.strip()}"
    return headers


def _bad(message: str) -> RefusedRequestError:
    return RefusedRequestError(HTTPStatus.BAD_REQUEST, message)
