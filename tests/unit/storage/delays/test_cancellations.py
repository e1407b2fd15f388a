"""Which records are cancelled, and how many cancellations are remembered."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.storage.delays import cancellations
from ottla.storage.delays.cancellations import Cancellations


def test_a_cancellation_covers_earlier_records_of_its_key() -> None:
    cancelled = Cancellations()
    cancelled.add(b"a", 5, needed_until_ms=9)

    assert cancelled.covers(b"a", 4)
    assert not cancelled.covers(b"a", 6)
    assert not cancelled.covers(b"b", 4)
    assert not cancelled.covers(None, 4)


def test_no_more_are_remembered_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellations, "CANCELLATIONS_MAX", 2)
    cancelled = Cancellations()
    cancelled.add(b"a", 1, needed_until_ms=20_000)
    cancelled.require_room(0)
    cancelled.add(b"b", 2, needed_until_ms=40_000)

    with pytest.raises(KafkaError) as refused:
        cancelled.require_room(1)
    assert refused.value.code == ErrorCode.POLICY_VIOLATION
    cancelled.require_room(30_000)
    assert len(cancelled) == 1
    assert cancelled.covers(b"b", 1)
