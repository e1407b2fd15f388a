"""The JSON answers of the calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from ottla.client.records import ConsumedRecord, Headers, RecordMetadata
from ottla.web.gateway.messages.bodies import Base64Text, HeadersJson, TextOrBytes
from ottla.web.gateway.problems import GatewayProblem

encoder: Final = msgspec.json.Encoder()


class ProducedMessage(msgspec.Struct, frozen=True):
    """Where a message is in the log. The timestamp is in milliseconds since 1970."""

    topic: str
    partition: int
    offset: int
    timestamp: int

    @classmethod
    def of(cls, found: RecordMetadata) -> ProducedMessage:
        return cls(found.topic, found.partition, found.offset, found.timestamp)


class MessageOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one message: where it is, or why it was not produced. `error` is Kafka's
    name."""

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    timestamp: int | None = None
    error: str | None = None
    detail: str | None = None
    status: int | None = None
    retriable: bool | None = None

    @classmethod
    def of(cls, outcome: RecordMetadata | GatewayProblem) -> MessageOutcome:
        if isinstance(outcome, GatewayProblem):
            return cls(
                error=outcome.error,
                detail=outcome.message,
                status=outcome.status,
                retriable=outcome.retriable,
            )
        return cls(outcome.topic, outcome.partition, outcome.offset, outcome.timestamp)


class MessagesAnswer(msgspec.Struct, frozen=True):
    offsets: list[MessageOutcome]


class PolledMessage(msgspec.Struct, frozen=True):
    topic: str
    partition: int
    offset: int
    key: TextOrBytes | None
    value: bytes | None
    headers: HeadersJson
    timestamp: int

    @classmethod
    def of(cls, record: ConsumedRecord) -> PolledMessage:
        return cls(
            record.topic,
            record.partition,
            record.offset,
            None if record.key is None else text_or_bytes(record.key),
            record.value,
            headers_json(record.headers) if record.headers else {},
            record.timestamp,
        )


class PollAnswer(msgspec.Struct, frozen=True):
    messages: list[PolledMessage]


class SubscribeAnswer(msgspec.Struct, frozen=True):
    """`owner` is the address of the gateway that has the session."""

    group: str
    instance: str
    topics: list[str]
    owner: str


class OffsetsAnswer(msgspec.Struct, frozen=True):
    offsets: Mapping[str, Mapping[int, int]]


class SeekAnswer(msgspec.Struct, frozen=True):
    topic: str
    partition: int
    offset: int


def poll_answer(records: Iterable[ConsumedRecord]) -> bytes:
    of = PolledMessage.of
    return encoder.encode(PollAnswer([of(record) for record in records]))


def text_or_bytes(found: bytes) -> TextOrBytes:
    """A string if the bytes are UTF-8."""
    try:
        return found.decode()
    except UnicodeDecodeError:
        return Base64Text(found)


def headers_json(headers: Headers) -> HeadersJson:
    """An object, unless a name repeats or a value is not UTF-8."""
    pairs = [(name, None if value is None else text_or_bytes(value)) for name, value in headers]
    as_object = dict(pairs)
    if len(as_object) < len(pairs) or any(isinstance(value, Base64Text) for _, value in pairs):
        return pairs
    return as_object
