"""The JSON bodies of consumer instances."""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

import msgspec

from ottla.web.gateway.messages.bodies import OffsetNumber, PartitionNumber, TopicText
from ottla.web.gateway.rest_v2.v2_errors import V2Error, unprocessable

B = TypeVar("B")


class V2ConsumerBody(msgspec.Struct, frozen=True):
    """Properties that the gateway does not need are accepted and ignored."""

    name: Annotated[str, msgspec.Meta(max_length=128)] | None = None
    format: str = "binary"
    auto_offset_reset: str | None = msgspec.field(name="auto.offset.reset", default=None)
    auto_commit_enable: bool | str | None = msgspec.field(name="auto.commit.enable", default=None)
    fetch_min_bytes: int | str | None = msgspec.field(name="fetch.min.bytes", default=None)
    request_timeout_ms: int | str | None = msgspec.field(
        name="consumer.request.timeout.ms", default=None
    )
    isolation_level: str | None = msgspec.field(name="isolation.level", default=None)


class V2Subscription(msgspec.Struct, frozen=True):
    topics: list[TopicText] | None = None
    topic_pattern: Annotated[str, msgspec.Meta(min_length=1, max_length=256)] | None = None


class V2Partition(msgspec.Struct, frozen=True):
    topic: TopicText
    partition: PartitionNumber


class V2PartitionOffset(msgspec.Struct, frozen=True):
    topic: TopicText
    partition: PartitionNumber
    offset: OffsetNumber
    metadata: Annotated[str, msgspec.Meta(max_length=4096)] | None = None


class V2Partitions(msgspec.Struct, frozen=True):
    partitions: list[V2Partition]


class V2Offsets(msgspec.Struct, frozen=True):
    offsets: list[V2PartitionOffset] | None = None


consumer_body: Final = msgspec.json.Decoder(V2ConsumerBody)
subscription_body: Final = msgspec.json.Decoder(V2Subscription)
partitions_body: Final = msgspec.json.Decoder(V2Partitions)
offsets_body: Final = msgspec.json.Decoder(V2Offsets)


def decode_v2(decoder: msgspec.json.Decoder[B], body: bytes) -> B:
    """Raises V2Error: 422 for JSON of another form, 400 for what is not JSON."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise unprocessable(f"The body does not fit: {error}.") from None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise V2Error(400, 400, f"The body is not valid JSON: {error}.") from None
