"""Bodies of requests: read within a limit, decoded and checked in one pass."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from ottla.web.service.problems import HttpProblem

T = TypeVar("T")

BODY_BYTES_MAX: Final = 2 << 20
_READ: Final = "ottla.body"


async def read_body(request: Request, *, bytes_max: int = BODY_BYTES_MAX) -> bytes:
    """Raises HttpProblem 413 for a larger body, before it is read if its size is announced. Can be
    called again."""
    if _READ in request.scope:
        kept: bytes = request.scope[_READ]
        return kept
    for name, value in request.scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > bytes_max:
            raise _too_large(bytes_max)
    receive = request.receive
    body, more = b"", True
    pieces = []
    size = 0
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(body)
        if size > bytes_max:
            raise _too_large(bytes_max)
        pieces.append(body)
    if len(pieces) > 1:
        body = b"".join(pieces)
    request.scope[_READ] = body
    return body


async def decode_body(
    request: Request, decoder: msgspec.json.Decoder[T], *, bytes_max: int = BODY_BYTES_MAX
) -> T:
    """Raises HttpProblem 422 for JSON of another form, and 400 for what is not JSON."""
    body = await read_body(request, bytes_max=bytes_max)
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise HttpProblem(422, f"the body is not valid: {error}") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise HttpProblem(400, f"the body is not JSON: {error}") from None


def json_bytes(value: Any) -> bytes:
    return _ENCODER.encode(value)


_ENCODER: Final = msgspec.json.Encoder()


def _too_large(bytes_max: int) -> HttpProblem:
    return HttpProblem(
        413, f"the body is larger than {bytes_max} bytes", headers={"connection": "close"}
    )
