"""What an application gets from a share consumer, and what it learns about acknowledgements."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from ottla.client.errors import ClientError
from ottla.client.records import Headers
from ottla.model import TopicPartition
from ottla.wire.records.header import TimestampType


class SharedRecord(NamedTuple):
    """A record that is locked for this member. `delivery_count` is 1 for the first delivery;
    `timestamp` is in milliseconds since 1970."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: TimestampType
    key: bytes | None
    value: bytes | None
    headers: Headers
    leader_epoch: int
    delivery_count: int


class AcknowledgementOutcome(NamedTuple):
    """Acknowledgements of one partition that were answered: stored, or refused with an error.
    Without a response, whether they were stored is not known."""

    partition: TopicPartition
    offsets: tuple[int, ...]
    error: ClientError | None


# A function or a coroutine function, which is called in the application's own calls.
AcknowledgementCallback: TypeAlias = Callable[[AcknowledgementOutcome], Awaitable[object] | object]
