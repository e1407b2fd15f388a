"""The topics of a classic group's members."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.coordinator.groups.classic.subscriptions import subscribed_topics
from ottla.wire.stored.consumer_protocol import ConsumerProtocolSubscription


def metadata(*topics: str) -> bytes:
    subscription = ConsumerProtocolSubscription(topics=list(topics))
    return b"\x00\x00" + bytes(subscription.encode(0))


def test_topics_are_those_of_all_members() -> None:
    assert subscribed_topics([metadata("a", "b"), metadata("b", "c")]) == frozenset("abc")
    assert subscribed_topics([]) == frozenset()
    assert subscribed_topics([metadata("a"), b"\x00"]) is None


def test_equal_subscriptions_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of members mostly have the same one, and a generation starts in one step."""
    decoded: list[bytes] = []
    original = ConsumerProtocolSubscription.decode_from

    def decode_from(data: bytes, version: int, at: int) -> Any:
        decoded.append(data)
        return original(data, version, at)

    monkeypatch.setattr(ConsumerProtocolSubscription, "decode_from", decode_from)
    assert subscribed_topics([metadata("a")] * 3_000) == frozenset("a")
    assert len(decoded) == 1
