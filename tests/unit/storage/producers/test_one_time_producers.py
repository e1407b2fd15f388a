"""Producer ids that a node derives from what it writes: each is used for one batch."""

from __future__ import annotations

import pytest

from ottla.model import TopicPartition
from ottla.model.ids import ONE_TIME_PRODUCER_ID_MIN
from ottla.storage.producers import producer_state
from ottla.storage.producers.producer_state import ProducerState
from ottla.wire.records.header import read_header
from tests.support.storage.batches import batch_of


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producer_state, "ONE_TIME_PRODUCERS_MAX", 3)
    state = ProducerState(TopicPartition("dlq", 0), producer_id_expiration_ms=1_000)
    state.update(read_header(batch_of(b"x", producer_id=7, sequence=0)), base_offset=0)
    batches = [
        read_header(batch_of(b"x", producer_id=ONE_TIME_PRODUCER_ID_MIN + number, sequence=0))
        for number in range(5)
    ]
    for number, batch in enumerate(batches):
        assert state.check_client_batch(batch) is None
        state.update(batch, base_offset=1 + number)
    assert [state.check_client_batch(each) is not None for each in batches] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert 7 in state.entries
    loaded = ProducerState(TopicPartition("dlq", 0), producer_id_expiration_ms=1_000)
    loaded.load(state.entries.values(), now_ms=1_000)
    for number in range(5, 8):
        batch = read_header(
            batch_of(b"x", producer_id=ONE_TIME_PRODUCER_ID_MIN + number, sequence=0)
        )
        loaded.update(batch, base_offset=number)
    assert len(loaded.entries) == 4
