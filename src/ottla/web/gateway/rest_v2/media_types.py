"""Content negotiation of REST v2.

`application/vnd.kafka.FORMAT.v2+json` names the format in which keys and values are embedded.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from ottla.web.gateway.rest_v2.v2_errors import V2_JSON, V2Error

BINARY: Final = "binary"
JSON_FORMAT: Final = "json"
FORMATS_WITH_SCHEMA: Final = ("avro", "protobuf", "jsonschema")
FORMATS: Final = (BINARY, JSON_FORMAT, *FORMATS_WITH_SCHEMA)

_KAFKA: Final = (
    r"application/vnd\.kafka(?:\.(?P<format>binary|json|avro|protobuf|jsonschema))?"
    r"(?:\.v[12])?\+json"
)
_CONTENT: Final = re.compile(rf"{_KAFKA}|application/json|application/octet-stream")
_ACCEPT: Final = re.compile(rf"{_KAFKA}|application/json|application/\*|\*/json|\*/\*")


def embedded_format(content_type: str | None) -> str:
    """Of a request's body; binary unless it says otherwise. Raises V2Error."""
    if content_type is None:
        return BINARY
    match = _CONTENT.fullmatch(_essence(content_type))
    if match is None:
        raise V2Error(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"Write Content-Type: {V2_JSON}, or application/vnd.kafka.FORMAT.v2+json.",
        )
    return match["format"] or BINARY


def accepted_formats(accept: str | None) -> list[str | None] | None:
    """The formats of the media types that the client accepts, None for a type that names no
    format; None if it accepts anything. Raises V2Error if it accepts nothing that there is."""
    if accept is None or not accept.strip():
        return None
    found = [
        match
        for part in accept.split(",")
        if (match := _ACCEPT.fullmatch(_essence(part))) is not None
    ]
    if not found:
        raise V2Error(
            HTTPStatus.NOT_ACCEPTABLE, HTTPStatus.NOT_ACCEPTABLE, f"Accept must allow {V2_JSON}."
        )
    return [match["format"] for match in found]


def answer_type(accept: str | None, format_: str | None = None) -> str:
    """The media type of an answer to a client that accepts these."""
    own = V2_JSON if format_ is None else f"application/vnd.kafka.{format_}.v2+json"
    parts = [_essence(part) for part in (accept or "").split(",")]
    return "application/json" if parts == ["application/json"] else own


def _essence(media_type: str) -> str:
    """Without its parameters."""
    return media_type.partition(";")[0].strip().lower()
