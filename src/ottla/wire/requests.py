"""Requests and responses whole: size, header and body.

Encoding gives a list of parts to send one after the other, with records as they are, none copied.
Decoding takes a frame without its size.
"""

from __future__ import annotations

from struct import Struct as Layout

from ottla.model import Buffer, Part
from ottla.wire.apis import (
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.headers import RequestHeader, ResponseHeader
from ottla.wire.schema import Message

_SIZE = Layout(">i")
_KEY_AND_VERSION = Layout(">hh")
_SIZE_AND_CORRELATION = Layout(">ii")
_CORRELATION_BYTES = 4
_NO_TAGS = b"\x00"


def encode_request(
    request: Message, version: int, *, correlation_id: int, client_id: str | None
) -> list[Buffer]:
    key = _api_key(request)
    header = RequestHeader(
        request_api_key=key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    return _framed(header, request_header_version(key, version), request, version)


def encode_response(response: Message, version: int, *, correlation_id: int) -> list[Part]:
    # The header is written by hand: as a message it would cost as much as most of the bodies.
    parts: list[Part] = [b"", b""]
    if response_header_version(_api_key(response), version):
        parts[1] = _NO_TAGS
    response.encode_into(parts, version)
    parts[0] = _SIZE_AND_CORRELATION.pack(_CORRELATION_BYTES + sum(map(len, parts)), correlation_id)
    return parts


def decode_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """The header and the position of the body, whether or not the version is one that we know.

    A client id of null is read as empty, as Kafka does.
    """
    if len(frame) < _KEY_AND_VERSION.size:
        raise ProtocolError(f"a request of {len(frame)} bytes has no header")
    key, version = _KEY_AND_VERSION.unpack_from(frame)
    header, position = RequestHeader.decode_from(frame, request_header_version(key, version))
    if header.client_id is None:
        header.client_id = ""
    return header, position


def decode_request(frame: Buffer) -> tuple[RequestHeader, Message]:
    header, position = decode_request_header(frame)
    cls = request_class(header.request_api_key)
    return header, _body(cls, frame, header.request_api_version, position)


def decode_response(frame: Buffer, key: int, version: int) -> tuple[ResponseHeader, Message]:
    """The response to a request that was sent with this API key and version."""
    header, position = ResponseHeader.decode_from(frame, response_header_version(key, version))
    return header, _body(response_class(key), frame, version, position)


def _api_key(message: Message) -> int:
    assert message.api_key is not None, f"{type(message).__name__} is no request and no response"
    return message.api_key


def _framed(header: Message, header_version: int, message: Message, version: int) -> list[Buffer]:
    parts: list[Buffer] = [b""]
    header.encode_into(parts, header_version)
    message.encode_into(parts, version)
    parts[0] = _SIZE.pack(sum(map(len, parts)))
    return parts


def _body(cls: type[Message], frame: Buffer, version: int, position: int) -> Message:
    message, end = cls.decode_from(frame, version, position)
    if end != len(frame):
        raise ProtocolError(
            f"{len(frame) - end} bytes follow the {cls.__name__} version {version} in its frame"
        )
    return message
