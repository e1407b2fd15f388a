"""The JSON bodies of requests. Decoding checks types, ranges and Base64 in one pass.

A key or a header is a string, which stands for its bytes in UTF-8, or `{"base64": "…"}` for other
bytes. A value is Base64, or null for a tombstone. Headers are an object, or a list of pairs where
a name repeats.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple, TypeAlias, TypeVar

import msgspec

from ottla.web.gateway.problems import GatewayProblem, bad_request

PARTITION_MAX: Final = 2**31 - 1
OFFSET_MAX: Final = 2**63 - 1

PartitionNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=PARTITION_MAX)]
OffsetNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=OFFSET_MAX)]
TopicText: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=249)]


class Base64Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes that are not UTF-8."""

    base64: bytes


TextOrBytes: TypeAlias = str | Base64Text
HeaderPair: TypeAlias = tuple[str, TextOrBytes | None]
HeadersJson: TypeAlias = dict[str, TextOrBytes | None] | list[HeaderPair]


class MessageBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One message to produce."""

    value: bytes | None
    key: TextOrBytes | None = None
    headers: HeadersJson | None = None
    partition: PartitionNumber | None = None


class BatchBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    messages: list[MessageBody]


class _RawBatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A batch of which only the frame is checked."""

    messages: list[msgspec.Raw]


class SubscribeBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    topics: Annotated[list[TopicText], msgspec.Meta(min_length=1)]


class OffsetsBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """By topic and partition: the offset of the next message to read."""

    offsets: Annotated[
        dict[TopicText, dict[PartitionNumber, OffsetNumber]], msgspec.Meta(min_length=1)
    ]


class SeekBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    topic: TopicText
    partition: PartitionNumber
    offset: OffsetNumber


class OutgoingMessage(NamedTuple):
    """A message as the producer takes it."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    partition: int | None

    @property
    def size(self) -> int:
        """Bytes that it holds in memory, about."""
        held = len(self.key or b"") + len(self.value or b"")
        if self.headers:
            held += sum(len(name) + len(value or b"") for name, value in self.headers)
        return held


_message: Final = msgspec.json.Decoder(MessageBody)
_batch: Final = msgspec.json.Decoder(BatchBody)
_raw_batch: Final = msgspec.json.Decoder(_RawBatch)

B = TypeVar("B")


def decode_message(body: bytes | bytearray) -> OutgoingMessage:
    """Raises GatewayProblem."""
    try:
        return outgoing(_message.decode(body))
    except msgspec.MsgspecError as error:
        raise refused_json(error) from None


def decode_batch(
    body: bytes | bytearray, *, messages_max: int
) -> list[OutgoingMessage | GatewayProblem]:
    """The messages in their order, with the problem of each one that cannot be produced. Raises
    GatewayProblem if there is no list of messages."""
    try:
        messages: list[OutgoingMessage | GatewayProblem] = [
            outgoing(each) for each in _batch.decode(body).messages
        ]
    except msgspec.MsgspecError:
        messages = _decode_each(body)
    if not messages:
        raise bad_request("The batch has no messages.")
    if len(messages) > messages_max:
        raise GatewayProblem(
            413, "RECORD_LIST_TOO_LARGE", f"A batch has at most {messages_max} messages."
        )
    return messages


def _decode_each(body: bytes | bytearray) -> list[OutgoingMessage | GatewayProblem]:
    try:
        parts = _raw_batch.decode(body).messages
    except msgspec.MsgspecError as error:
        raise refused_json(error) from None
    found: list[OutgoingMessage | GatewayProblem] = []
    for part in parts:
        try:
            found.append(decode_message(bytes(part)))
        except GatewayProblem as problem:
            found.append(problem)
    return found


def decode_body(decoder: msgspec.json.Decoder[B], body: bytes | bytearray) -> B:
    """Raises GatewayProblem."""
    try:
        return decoder.decode(body)
    except msgspec.MsgspecError as error:
        raise refused_json(error) from None


def refused_json(error: msgspec.MsgspecError) -> GatewayProblem:
    if isinstance(error, msgspec.ValidationError):
        return bad_request(f"The body does not fit: {error}.")
    return bad_request(f"The body is not valid JSON: {error}.")


def outgoing(body: MessageBody) -> OutgoingMessage:
    key = body.key
    return OutgoingMessage(
        None if key is None else (key.encode() if key.__class__ is str else _bytes(key)),
        body.value,
        () if body.headers is None else _headers(body.headers),
        body.partition,
    )


def _headers(given: HeadersJson) -> tuple[tuple[str, bytes | None], ...]:
    pairs = given.items() if isinstance(given, dict) else given
    return tuple((name, None if value is None else _bytes(value)) for name, value in pairs)


def _bytes(text: TextOrBytes) -> bytes:
    return text.encode() if isinstance(text, str) else text.base64
