"""States without writes get new snapshots, so that the log can be pruned."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

from ottla.coordinator.shares.coordinator import ShareCoordinator
from ottla.coordinator.shares.share_state import ShareState
from ottla.model import Uuid
from ottla.shares.share_key import ShareKey

NOW_MS, COLD_MS = 1_000_000, 300_000


def coordinator(*states: ShareState) -> ShareCoordinator:
    context: Any = Mock()
    context.clock.now_ms.return_value = NOW_MS
    context.settings.cold_interval_ms = COLD_MS
    made = ShareCoordinator(context)
    made.states = {
        ShareKey("group", Uuid(bytes(16)), number): state for number, state in enumerate(states)
    }
    return made


def cold(*, snapshot_offset: int, update_count: int = 0) -> ShareState:
    return ShareState(snapshot_offset=snapshot_offset, update_count=update_count, written_ms=1)


def test_the_latest_snapshot_is_not_repeated_when_nothing_was_written_since() -> None:
    warm = ShareState(snapshot_offset=5, written_ms=NOW_MS)
    assert len(coordinator(cold(snapshot_offset=7), warm).snapshot_cold().records) == 0
    assert len(coordinator(cold(snapshot_offset=3), warm).snapshot_cold().records) == 1
    written = cold(snapshot_offset=5, update_count=1)
    assert len(coordinator(cold(snapshot_offset=7), written).snapshot_cold().records) == 2


def test_many_cold_states_are_not_compared_with_each_other() -> None:
    looks = 0

    class CountedState(ShareState):
        def __getattribute__(self, name: str) -> Any:
            nonlocal looks
            looks += name == "snapshot_offset"
            return super().__getattribute__(name)

    states = [CountedState(snapshot_offset=each, written_ms=1) for each in range(200)]
    assert len(coordinator(*states).snapshot_cold().records) == 199
    assert looks < 1_000
