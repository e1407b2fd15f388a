"""Paths whose segments may contain an encoded slash, such as a subject `a/b` as `a%2Fb`.

ASGI decodes the path before it is routed. Here an encoded slash stays encoded until a handler takes
the segment, so that it does not end the segment.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final
from urllib.parse import unquote

from starlette.requests import Request

_FLAG: Final = "ottla.encoded_slash"


def keep_encoded_slashes(scope: MutableMapping[str, Any]) -> None:
    raw: bytes = scope.get("raw_path") or b""
    if b"%2f" not in raw.lower():
        return
    segments = raw.partition(b"?")[0].decode("latin-1").split("/")
    decoded = (unquote(each).replace("%", "%25").replace("/", "%2F") for each in segments)
    scope["path"] = "/".join(decoded)
    scope[_FLAG] = True


def segment(request: Request, name: str) -> str:
    """The segment of the path that the route calls by this name."""
    value = str(request.path_params[name])
    return unquote(value) if _FLAG in request.scope else value
