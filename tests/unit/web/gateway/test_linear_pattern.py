"""Patterns of topics from requests."""

from __future__ import annotations

import pytest

from ottla.web.gateway.linear_pattern import LinearPattern


@pytest.mark.parametrize(
    ("text", "name", "matches"),
    [
        ("orders", "orders", True),
        ("orders", "orders.eu", False),
        ("rders", "orders", False),
        (r"orders\..*", "orders.eu", True),
        ("a|b", "b", True),
        ("a|b", "ab", False),
        ("[a-c]{2}", "cb", True),
    ],
)
def test_a_pattern_matches_whole_names(text: str, name: str, matches: bool) -> None:
    assert LinearPattern(text).fullmatch(name) is matches


def test_an_expression_that_makes_others_backtrack_is_matched_at_once() -> None:
    """With Python's engine, this one takes longer than the universe is old."""
    assert not LinearPattern("([a-z]+)+X").fullmatch("a" * 249)


@pytest.mark.parametrize("text", ["(", "(?=a)a", r"(a)\1", "a{1,100000}{1,100000}"])
def test_other_expressions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"regex|pattern"):
        LinearPattern(text)
