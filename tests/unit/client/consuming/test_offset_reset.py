"""`auto.offset.reset`."""

from __future__ import annotations

import pytest

from ottla.client.consuming.offset_reset import EARLIEST, LATEST, NO_RESET, offset_reset

NOW_MS = 10 * 86_400_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [("earliest", EARLIEST), ("LATEST", LATEST), ("none", NO_RESET), ("smallest", EARLIEST)],
)
def test_a_policy_is_read_by_its_name(text: str, expected: object) -> None:
    assert offset_reset(text) == expected


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("P7D", 7 * 86_400_000), ("PT1H30M", 5_400_000), ("P1DT0.5S", 86_400_500)],
)
def test_a_duration_starts_at_the_records_of_that_time(text: str, milliseconds: int) -> None:
    reset = offset_reset(f"by_duration:{text}")
    assert reset.timestamp(NOW_MS) == NOW_MS - milliseconds


def test_a_duration_longer_than_time_itself_starts_at_its_beginning() -> None:
    assert offset_reset("by_duration:P99999D").timestamp(NOW_MS) == 0


@pytest.mark.parametrize("text", ["newest", "by_duration", "by_duration:", "by_duration:7D", "P7D"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be|not a duration"):
        offset_reset(text)
