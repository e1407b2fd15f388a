"""How keys and values are embedded in the JSON of REST v2."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final, Protocol

import msgspec

from ottla.web.gateway.rest_v2.media_types import BINARY, JSON_FORMAT
from ottla.web.gateway.rest_v2.v2_errors import V2Error, unprocessable

_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder()


class SchemaChoice(msgspec.Struct, frozen=True):
    """Which schema a request names for its keys or values: its text, or its id."""

    text: str | None = None
    id: int | None = None

    def __bool__(self) -> bool:
        return self.text is not None or self.id is not None


class EmbeddedFormat(Protocol):
    """One of the formats. `id` of `prepare` is that of the schema, None for formats without."""

    async def prepare(self, topic: str, kind: str, schema: SchemaChoice) -> int | None:
        """Looks up or registers the schema of a request's keys or values (`kind`)."""

    async def encode(self, schema_id: int | None, value: Any) -> bytes:
        """Raises V2Error for a value that does not fit."""

    async def decode(self, content: bytes) -> Any:
        """Raises ValueError for content of another format."""


class BinaryFormat:
    """Base64 in JSON strings."""

    async def prepare(self, topic: str, kind: str, schema: SchemaChoice) -> None:
        del topic, kind, schema

    async def encode(self, schema_id: int | None, value: Any) -> bytes:
        del schema_id
        if isinstance(value, str):
            try:
                return base64.b64decode(value, validate=True)
            except (binascii.Error, ValueError):
                pass
        raise V2Error(400, 400, "In the binary format, keys and values are strings of Base64.")

    async def decode(self, content: bytes) -> str:
        return base64.b64encode(content).decode()


class JsonFormat:
    """Any JSON value, as it is."""

    async def prepare(self, topic: str, kind: str, schema: SchemaChoice) -> None:
        del topic, kind, schema

    async def encode(self, schema_id: int | None, value: Any) -> bytes:
        del schema_id
        return _encoder.encode(value)

    async def decode(self, content: bytes) -> Any:
        return _decoder.decode(content)


def plain_formats() -> dict[str, EmbeddedFormat]:
    """The formats that need no schema registry."""
    return {BINARY: BinaryFormat(), JSON_FORMAT: JsonFormat()}


class EmbeddedFormats:
    """Those that this gateway has."""

    def __init__(self, formats: dict[str, EmbeddedFormat]) -> None:
        self._formats = formats

    def require(self, name: str) -> EmbeddedFormat:
        found = self._formats.get(name)
        if found is None:
            raise unprocessable(
                f"The format {name} needs a schema registry, which this gateway was started "
                "without (--schema-registry)."
            )
        return found
