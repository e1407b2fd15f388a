"""What is kept of a registry stays within a number and a size."""

from __future__ import annotations

import pytest

from ottla.client.schemas.recently_used import RecentlyUsed


def test_the_value_not_used_for_longest_makes_room() -> None:
    values = RecentlyUsed(count_max=2)
    values.keep("a", 1, 10)
    values.keep("b", 2, 10)
    assert values.get("a") == 1
    values.keep("c", 3, 10)
    assert ["a" in values, "b" in values, "c" in values] == [True, False, True]
    with pytest.raises(KeyError):
        values.get("b")


def test_values_are_bounded_in_bytes() -> None:
    values = RecentlyUsed(bytes_max=100)
    for number in range(10):
        values.keep(number, number, 30)
    assert [number for number in range(10) if number in values] == [7, 8, 9]
    values.keep(9, "other", 90)
    assert [number for number in range(10) if number in values] == [9]
    assert values.get(9) == "other"


def test_a_value_larger_than_all_room_is_not_kept() -> None:
    values = RecentlyUsed(bytes_max=100)
    values.keep("a", 1, 60)
    values.keep("b", 2, 101)
    assert "a" in values
    assert "b" not in values
