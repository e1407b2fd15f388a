"""Messages as JSON, and back."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ottla.client.records import ConsumedRecord
from ottla.web.gateway.messages.answers import PolledMessage, encoder, poll_answer
from ottla.web.gateway.messages.bodies import (
    OutgoingMessage,
    decode_batch,
    decode_message,
)
from ottla.web.gateway.problems import GatewayProblem
from ottla.wire.records.header import TimestampType

NOT_UTF8 = b"\xff\x00"


def decoded(body: Any) -> OutgoingMessage:
    return decode_message(json.dumps(body).encode())


def base64_text(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"value": "aGVsbG8="}, OutgoingMessage(None, b"hello", (), None)),
        ({"value": None}, OutgoingMessage(None, None, (), None)),
        ({"value": "", "key": ""}, OutgoingMessage(b"", b"", (), None)),
        ({"value": None, "key": "ä", "partition": 7}, OutgoingMessage("ä".encode(), None, (), 7)),
        ({"value": None, "key": {"base64": "/wA="}}, OutgoingMessage(NOT_UTF8, None, (), None)),
        ({"value": None, "headers": {"a": "1"}}, OutgoingMessage(None, None, (("a", b"1"),), None)),
        (
            {"value": None, "headers": [["a", "1"], ["a", None], ["a", {"base64": "/wA="}]]},
            OutgoingMessage(None, None, (("a", b"1"), ("a", None), ("a", NOT_UTF8)), None),
        ),
    ],
)
def test_a_body_is_a_message(body: Any, message: OutgoingMessage) -> None:
    assert decoded(body) == message


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"value": "no base64!"},
        {"value": "aGVsbG8"},
        {"value": None, "key": 7},
        {"value": None, "key": {"base64": "?"}},
        {"value": None, "key": {"base64": "", "more": 1}},
        {"value": None, "partition": -1},
        {"value": None, "partition": 2**31},
        {"value": None, "partition": "1"},
        {"value": None, "headers": [["a"]]},
        {"value": None, "headers": {"a": 1}},
        {"value": None, "surprise": 1},
        [],
        "text",
    ],
)
def test_a_body_that_does_not_fit_is_refused(body: Any) -> None:
    with pytest.raises(GatewayProblem) as refused:
        decoded(body)
    assert refused.value.status == 400


def test_a_message_of_a_batch_that_does_not_fit_leaves_the_others_alone() -> None:
    body = {"messages": [{"value": "YQ=="}, {"value": 1}, {"value": "Yg=="}]}
    first, second, third = decode_batch(json.dumps(body).encode(), messages_max=3)
    assert isinstance(second, GatewayProblem)
    assert [first, third] == [
        OutgoingMessage(None, b"a", (), None),
        OutgoingMessage(None, b"b", (), None),
    ]


@pytest.mark.parametrize(
    ("body", "status"),
    [({"messages": []}, 400), ({"messages": [{"value": None}] * 4}, 413), ({"messages": 1}, 400)],
)
def test_a_batch_has_some_messages_and_not_too_many(body: Any, status: int) -> None:
    with pytest.raises(GatewayProblem) as refused:
        decode_batch(json.dumps(body).encode(), messages_max=3)
    assert refused.value.status == status


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        ((), {}),
        ((("a", b"1"), ("b", None)), {"a": "1", "b": None}),
        ((("a", b"1"), ("a", b"2")), [["a", "1"], ["a", "2"]]),
        ((("a", NOT_UTF8),), [["a", {"base64": base64_text(NOT_UTF8)}]]),
    ],
)
@pytest.mark.parametrize("key", [None, b"", b"key", NOT_UTF8])
@pytest.mark.parametrize("value", [None, b"", NOT_UTF8])
def test_a_record_is_shown_so_that_it_can_be_produced_again(
    headers: tuple[tuple[str, bytes | None], ...],
    shown: Any,
    key: bytes | None,
    value: bytes | None,
) -> None:
    record = ConsumedRecord("t", 1, 2, 3, TimestampType.CREATE_TIME, key, value, headers)
    found = json.loads(encoder.encode(PolledMessage.of(record)))
    assert found["headers"] == shown
    same = {name: found[name] for name in ("key", "value", "headers")}
    assert decoded(same) == OutgoingMessage(key, value, headers, None)


def test_a_poll_shows_where_a_message_is() -> None:
    record = ConsumedRecord("t", 1, 2, 3, TimestampType.CREATE_TIME, None, None)
    [message] = json.loads(poll_answer([record]))["messages"]
    assert message == {
        "topic": "t",
        "partition": 1,
        "offset": 2,
        "key": None,
        "value": None,
        "headers": {},
        "timestamp": 3,
    }
