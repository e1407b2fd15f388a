"""Every client delays records, and gets those that others have delayed, when they are due."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest

from ottla.runtime.system_clock import SystemClock
from tests.conformance.clients import EARLIEST, Client, Message
from tests.conformance.topics import Topics

_DELAY_MS: Final = 700


def _now_ms() -> int:
    return SystemClock().now_ms()


def _due(value: bytes, at_ms: int, key: bytes = b"key") -> Message:
    return Message(value, key, (("ottla-deliver-at", str(at_ms).encode()),))


def _cancel(key: bytes) -> Message:
    return Message(b"", key, (("ottla-cancel", b"yes"),))


def _wait_delivered(client: Client, writer: Client, topic: str, count: int) -> None:
    """For a client that reads to the end and stops."""
    if client.name == "kcat":
        writer.consume({(topic, 0): EARLIEST}, count)


@pytest.mark.parametrize("read_committed", [False, True])
def test_records_arrive_when_they_are_due(
    client: Client, writer: Client, topics: Topics, read_committed: bool
) -> None:
    topic = topics.create(ottla_delivery_delay_enable="true")
    first_ms = _now_ms() + _DELAY_MS
    messages = [_due(b"%d" % at, first_ms + 100 - 10 * at) for at in range(10)]
    messages += [Message(b"direct"), _cancel(b"other"), _due(b"late", first_ms + 200)]
    if not all(map(client.can_send, messages)):
        pytest.skip(f"{client.name} cannot send these headers")
    held = client.produce(topic, messages)
    is_in_time = _now_ms() < first_ms
    _wait_delivered(client, writer, topic, 12)

    received = client.consume({(topic, 0): EARLIEST}, 12, read_committed=read_committed)

    values = [each.value for each in received]
    # On a busy host, all may be due before they are sent.
    assert values.index(b"direct") == 0 or not is_in_time
    values.remove(b"direct")
    assert values == [*(b"%d" % at for at in reversed(range(10))), b"late"]
    assert _now_ms() >= first_ms + 200
    assert all(one.offset < other.offset for one, other in pairwise(received))
    at = {message.value: place.offset for message, place in zip(messages, held, strict=True)}
    for each in received if is_in_time else ():
        if each.value == b"direct":
            continue
        headers = dict(each.headers)
        assert headers["ottla-held-offset"] == str(at[each.value]).encode()
        assert each.timestamp_ms == int(headers["ottla-deliver-at"] or 0)


def test_every_client_passes_what_is_held(client: Client, topics: Topics, writer: Client) -> None:
    """A long row of held batches, between records that can be seen."""
    topic = topics.create(ottla_delivery_delay_enable="true")
    later_ms = _now_ms() + 3_600_000
    writer.produce(topic, [Message(b"first")])
    for _ in range(3):
        writer.produce(topic, [_due(bytes(1_000), later_ms) for _ in range(700)])
    writer.produce(topic, [Message(b"last")])

    for read_committed in (False, True):
        received = client.consume(
            {(topic, 0): EARLIEST}, 2, read_committed=read_committed, fetch_bytes_max=100_000
        )
        assert [each.value for each in received] == [b"first", b"last"]


def test_a_record_is_cancelled_by_its_key(client: Client, writer: Client, topics: Topics) -> None:
    topic = topics.create(ottla_delivery_delay_enable="true")
    if not client.can_send(_cancel(b"key")):
        pytest.skip(f"{client.name} cannot send these headers")
    at_ms = _now_ms() + _DELAY_MS
    client.produce(topic, [_due(b"cancelled", at_ms, b"1"), _due(b"kept", at_ms, b"2")])
    client.produce(topic, [_cancel(b"1"), _due(b"end", at_ms + 1, b"1")])
    _wait_delivered(client, writer, topic, 2)

    received = client.consume({(topic, 0): EARLIEST}, 2)

    assert [each.value for each in received] == [b"kept", b"end"]
