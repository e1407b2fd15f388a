from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.replication.byte_rate import ByteRate


def rate() -> ByteRate:
    return ByteRate(windows_max=11, window_seconds=1)


def test_nothing_went_by_at_first() -> None:
    assert rate().per_second(now=5.0) == 0


def test_first_bytes_count_as_spread_over_a_window() -> None:
    measured = rate()
    measured.record(300, now=5.0)
    assert measured.per_second(now=5.0) == 300
    assert measured.per_second(now=5.9) == 300
    assert measured.per_second(now=8.0) == pytest.approx(100)


def test_steady_bytes_have_their_rate() -> None:
    measured = rate()
    for step in range(200):
        measured.record(50, now=step / 10)
    assert measured.per_second(now=20.0) == pytest.approx(500, rel=0.1)


def test_bytes_of_long_ago_are_forgotten() -> None:
    measured = rate()
    measured.record(1_000_000, now=0.0)
    measured.record(10, now=10.5)
    assert measured.per_second(now=10.9) > 90_000
    assert measured.per_second(now=11.5) == pytest.approx(10)
    assert measured.per_second(now=30.0) == 0


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(0, 10**9)), max_size=40))
def test_rate_is_between_none_and_all_in_one_window(steps: list[tuple[float, int]]) -> None:
    measured, now, total = rate(), 0.0, 0
    for pause, size in steps:
        now += pause
        total += size
        measured.record(size, now=now)
        assert size / 11 <= measured.per_second(now=now) <= total
