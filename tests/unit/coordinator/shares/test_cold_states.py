"""States without writes get new snapshots if the log can then be pruned."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

from ottla.coordinator.shares.coordinator import ShareCoordinator
from ottla.coordinator.shares.share_state import ShareState
from ottla.model import Uuid
from ottla.shares.share_key import ShareKey

NOW_MS, COLD_MS = 1_000_000, 300_000


def coordinator(*states: ShareState, end_offset: int) -> ShareCoordinator:
    context: Any = Mock()
    context.clock.now_ms.return_value = NOW_MS
    context.settings.cold_interval_ms = COLD_MS
    made = ShareCoordinator(context)
    made.states = {
        ShareKey("group", Uuid(bytes(16)), number): state for number, state in enumerate(states)
    }
    made._end_offset = end_offset
    return made


def cold(*, snapshot_offset: int, update_count: int = 0) -> ShareState:
    return ShareState(snapshot_offset=snapshot_offset, update_count=update_count, written_ms=1)


def test_cold_states_are_written_when_that_lets_records_be_pruned() -> None:
    states = cold(snapshot_offset=3), ShareState(snapshot_offset=5, written_ms=NOW_MS)
    assert len(coordinator(*states, end_offset=6).snapshot_cold().records) == 0
    assert len(coordinator(*states, end_offset=20).snapshot_cold().records) == 1


def test_states_of_idle_groups_are_not_written_again() -> None:
    """Everything that is written is needed."""
    states = [cold(snapshot_offset=number * 10, update_count=9) for number in range(100)]
    assert len(coordinator(*states, end_offset=1_000).snapshot_cold().records) == 0
    assert len(coordinator(*states, end_offset=1_200).snapshot_cold().records) == 100
