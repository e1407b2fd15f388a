"""The six plain calls, and the stream of events."""

from __future__ import annotations

from typing import Final

from ottla.web.gateway.messages.answers import (
    MessagesAnswer,
    OffsetsAnswer,
    PollAnswer,
    ProducedMessage,
    SeekAnswer,
    SubscribeAnswer,
)
from ottla.web.gateway.messages.bodies import (
    BatchBody,
    MessageBody,
    OffsetsBody,
    SeekBody,
    SubscribeBody,
)
from ottla.web.gateway.openapi.operation import (
    GROUP,
    INSTANCE_QUERY,
    TOPIC,
    HttpOperation,
    Parameter,
    integer,
)

_EXAMPLE: Final = {
    "key": "user_123",
    "value": "aGVsbG8=",
    "headers": {"trace_id": "abc"},
    "partition": None,
}

PLAIN_OPERATIONS: Final = (
    HttpOperation(
        "post",
        "/topics/{topic}/messages",
        "produce",
        "Produce one message. The value is Base64, or null for a tombstone. Without a partition, "
        "the hash of the key chooses one.",
        ProducedMessage,
        MessageBody,
        _EXAMPLE,
        (TOPIC,),
        (403, 404, 413),
    ),
    HttpOperation(
        "post",
        "/topics/{topic}/messages/batch",
        "produce_batch",
        "Produce many messages. The answer has one result for each, in their order.",
        MessagesAnswer,
        BatchBody,
        {"messages": [_EXAMPLE, {"value": None, "key": "user_124"}]},
        (TOPIC,),
        (403, 404, 413),
    ),
    HttpOperation(
        "post",
        "/consumers/{group}/subscribe",
        "subscribe",
        "Join the group with these topics. The answer names the gateway that has the session.",
        SubscribeAnswer,
        SubscribeBody,
        {"topics": ["user-events"]},
        (
            GROUP,
            INSTANCE_QUERY,
            Parameter(
                "takeover",
                {"type": "string", "enum": ["true", "false"]},
                "Open a session here although another gateway has one of this name.",
                place="query",
            ),
        ),
        (403, 421),
    ),
    HttpOperation(
        "get",
        "/consumers/{group}/poll",
        "poll",
        "Read the next messages, as soon as there are some.",
        PollAnswer,
        parameters=(
            GROUP,
            INSTANCE_QUERY,
            Parameter(
                "max_records",
                integer(1, 10_000),
                "Most messages in the answer. Default: 500.",
                place="query",
            ),
            Parameter(
                "timeout_ms",
                integer(0, 60_000),
                "How long to wait for messages. Default: 1000.",
                place="query",
            ),
        ),
        statuses=(403, 404, 409, 416, 421),
    ),
    HttpOperation(
        "post",
        "/consumers/{group}/offsets",
        "commit",
        "Commit offsets: those of the next messages to read.",
        OffsetsAnswer,
        OffsetsBody,
        {"offsets": {"user-events": {"0": 1}}},
        (GROUP, INSTANCE_QUERY),
        (403, 404, 409, 421),
    ),
    HttpOperation(
        "post",
        "/consumers/{group}/seek",
        "seek",
        "Continue at this offset, in a partition that is assigned to the consumer.",
        SeekAnswer,
        SeekBody,
        {"topic": "user-events", "partition": 0, "offset": 0},
        (GROUP, INSTANCE_QUERY),
        (403, 404, 409, 421),
    ),
    HttpOperation(
        "get",
        "/consumers/{group}/stream",
        "stream",
        "Server-sent events: one for each message, for as long as the connection lasts. The same "
        "path takes WebSockets.",
        None,
        parameters=(
            GROUP,
            INSTANCE_QUERY,
            Parameter(
                "topics",
                {"type": "string", "maxLength": 1_000},
                "Names of topics, separated by commas.",
                place="query",
            ),
            Parameter(
                "commit",
                {"type": "string", "enum": ["auto", "manual"]},
                "auto: what was sent is committed.",
                place="query",
            ),
            Parameter(
                "from",
                {"type": "string", "enum": ["beginning", "end"]},
                "Where a group without offsets starts. Default: beginning.",
                place="query",
            ),
        ),
        statuses=(403, 409),
        media_type="text/event-stream",
    ),
)
