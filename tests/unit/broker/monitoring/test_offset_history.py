"""How old the next record of a group is, from the high watermarks that were observed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.broker.monitoring.offset_history import OffsetHistory


def observed(*pairs: tuple[float, int]) -> OffsetHistory:
    history = OffsetHistory()
    for now, offset in pairs:
        history.observe(offset, now)
    return history


def test_a_group_at_the_high_watermark_has_no_lag() -> None:
    history = observed((0, 10), (100, 10))
    assert history.seconds_since(10, now=200) == 0
    assert history.seconds_since(11, now=200) == 0
    assert OffsetHistory().seconds_since(5, now=200) == 0


def test_the_lag_begins_when_the_high_watermark_left_the_offset() -> None:
    history = observed((0, 10), (100, 10), (110, 30))
    assert history.seconds_since(10, now=150) == 50
    assert history.seconds_since(20, now=150) == 45
    assert history.seconds_since(30, now=150) == 0


def test_what_was_before_the_first_observation_is_as_old_as_that() -> None:
    assert observed((100, 10), (110, 20)).seconds_since(3, now=150) == 50


def test_a_truncated_partition_begins_again() -> None:
    history = observed((0, 10), (10, 20), (20, 5))
    assert len(history) == 1
    assert history.seconds_since(3, now=25) == 5


def test_offsets_that_no_group_needs_are_forgotten() -> None:
    history = observed((0, 10), (10, 20), (20, 30), (30, 40))
    history.forget_below(25)
    assert len(history) == 3
    assert history.seconds_since(25, now=40) == 25
    history.forget_below(100)
    assert len(history) == 1


@given(st.lists(st.integers(0, 5), min_size=1, max_size=400), st.data())
def test_a_long_history_stays_small_and_roughly_right(
    growth: list[int], data: st.DataObject
) -> None:
    history, offset, left = OffsetHistory(), 0, dict[int, float]()
    for now, count in enumerate(growth):
        offset += count
        history.observe(offset, now)
        left[offset] = now
    assert len(history) <= 64
    wanted = data.draw(st.sampled_from(sorted(left)))
    seconds = history.seconds_since(wanted, now=len(growth))
    if wanted == offset:
        assert seconds == 0
    else:
        # Never before the offset was reached, never after the next observation that was kept.
        assert 0 <= seconds <= len(growth)
        if len(left) <= 32:
            assert seconds == pytest.approx(len(growth) - left[wanted])
