"""Which records are cancelled, and how many cancellations are remembered."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.storage.delays import cancellations
from ottla.storage.delays.cancellations import UNDECIDED, Cancellations


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
    cancelled.require_room(0, _forgets_nothing)
    cancelled.add(b"b", 2, needed_until_ms=40_000)

    with pytest.raises(KafkaError) as refused:
        cancelled.require_room(1, _forgets_nothing)
    assert refused.value.code == ErrorCode.POLICY_VIOLATION
    cancelled.require_room(
        30_000,
        lambda: cancelled.forget_unneeded(
            first_due_ms=20_001, latest_due_ms=40_000, open_from=None
        ),
    )
    assert len(cancelled) == 1
    assert cancelled.covers(b"b", 1)


def test_a_cancellation_is_needed_while_a_transaction_before_it_is_open() -> None:
    cancelled = Cancellations()
    cancelled.add(b"a", 5, needed_until_ms=UNDECIDED)

    cancelled.forget_unneeded(first_due_ms=UNDECIDED, latest_due_ms=10, open_from=4)
    cancelled.forget_unneeded(first_due_ms=20, latest_due_ms=20, open_from=None)
    assert cancelled.covers(b"a", 4)
    cancelled.forget_unneeded(first_due_ms=21, latest_due_ms=30, open_from=6)
    assert not cancelled.covers(b"a", 4)


def test_an_earlier_cancellation_that_is_read_later_changes_nothing() -> None:
    cancelled = Cancellations()
    cancelled.add(b"a", 8, needed_until_ms=2)
    cancelled.add(b"a", 5, needed_until_ms=1)

    assert cancelled.covers(b"a", 7)


def _forgets_nothing() -> None:
    pass
