"""Complete requests and responses: size, header and body.

Encoding returns a list of parts to send in order, with records not copied. Decoding takes a frame
without its size prefix.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Layout
from struct import error as struct_error
from typing import NamedTuple

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
_REQUEST_HEAD = Layout(">hhih")
_SIZE_AND_CORRELATION = Layout(">ii")
_CORRELATION_BYTES = 4
_NO_TAGS = b"\x00"
# The request header version with tagged fields.
_WITH_TAGS = 2
_new_head: Callable[[type[RequestHead], tuple[object, ...]], RequestHead] = tuple.__new__


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


class RequestHead(NamedTuple):
    """A request's header. A null client id becomes empty, as in Kafka."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str
    # The position of the body.
    size: int


def encode_response(response: Message, version: int, *, correlation_id: int) -> list[Part]:
    parts: list[Part] = []
    encode_response_into(parts, response, version, correlation_id=correlation_id)
    return parts


def encode_response_into(
    parts: list[Part], response: Message, version: int, *, correlation_id: int
) -> int:
    """Appends a response to `parts` and returns its size. Undoes this if encoding fails."""
    # The header is encoded by hand: as a message it would cost as much as most bodies.
    start = len(parts)
    parts.append(b"")
    if response_header_version(_api_key(response), version):
        parts.append(_NO_TAGS)
    try:
        response.encode_into(parts, version)
    except ProtocolError:
        del parts[start:]
        raise
    size = _CORRELATION_BYTES + sum(map(len, parts[start:] if start else parts))
    parts[start] = _SIZE_AND_CORRELATION.pack(size, correlation_id)
    return size + _SIZE.size


def encode_whole_response(response: Message, version: int, *, correlation_id: int) -> bytes:
    """A response without file slices, as one bytes object."""
    key = response.api_key
    assert key is not None, f"{type(response).__name__} is not a response"
    parts: list[Buffer] = [_NO_TAGS] if response_header_version(key, version) else []
    response.encode_into(parts, version)
    body = b"".join(parts)
    return _SIZE_AND_CORRELATION.pack(len(body) + _CORRELATION_BYTES, correlation_id) + body


def decode_request_head(frame: Buffer) -> RequestHead:
    """Decodes the header of a request of any version, known or not.

    Decoded by hand, as responses are encoded, because it is done for every request.
    """
    try:
        key, version, correlation_id, length = _REQUEST_HEAD.unpack_from(frame)
        end = _REQUEST_HEAD.size
        client_id = ""
        if length > 0:
            end += length
            client_id = str(frame[_REQUEST_HEAD.size : end], "utf-8")
        if request_header_version(key, version) == _WITH_TAGS:
            if frame[end] == 0:
                end += 1
            else:
                _, end = RequestHeader.decode_from(frame, _WITH_TAGS)
    except (struct_error, IndexError):
        raise ProtocolError(f"a request of {len(frame)} bytes ends within its header") from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"malformed client id in a request's header: {error}") from error
    if end > len(frame):
        raise ProtocolError(f"a request of {len(frame)} bytes ends within its header")
    return _new_head(RequestHead, (key, version, correlation_id, client_id, end))


def decode_request(frame: Buffer) -> tuple[RequestHead, Message]:
    head = decode_request_head(frame)
    return head, _body(request_class(head.api_key), frame, head.api_version, head.size)


def decode_response(frame: Buffer, key: int, version: int) -> tuple[ResponseHeader, Message]:
    """Decodes the response to a request that was sent with this API key and version."""
    header, position = ResponseHeader.decode_from(frame, response_header_version(key, version))
    return header, _body(response_class(key), frame, version, position)


def _api_key(message: Message) -> int:
    assert message.api_key is not None, (
        f"{type(message).__name__} is neither a request nor a response"
    )
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
